"""A LoRA adapter over its base is the model that merging makes of the two.

Folders are written by hand as peft saves them; what merging is stands in `merged`, in float64.
"""
import json
import math
import re

import gguf
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import checkpoints as C
import families
import gguf_models
from command import refused_both_ways
from test_families import token_ids
from test_gguf_families import datasets

BASE = "base_model.model."


@pytest.fixture(scope="module")
def command(warm_command):
    return warm_command


def pattern(patterns, module, otherwise):
    """As peft's get_pattern_key chooses one."""
    return next((value for key, value in patterns.items() if re.match(rf"(.*\.)?({key})$", module)), otherwise)


def scale_of(config, module):
    rank = pattern(config.get("rank_pattern", {}), module, config["r"])
    alpha = pattern(config.get("alpha_pattern", {}), module, config["lora_alpha"])
    return rank, alpha / math.sqrt(rank) if config.get("use_rslora") else alpha / rank


def factors(weights, config, names, seed, turned=(), embeddings=()):
    """Adapter tensors for the modules: A [r, in] and B [out, r], whatever way round the weight is stored."""
    normal = C.generator(seed)
    tensors = {}
    for module in names:
        rank, _ = scale_of(config, module)
        out, width = weights[module + ".weight"].shape[::-1 if module.endswith(turned) and turned else 1]
        if module in embeddings:
            tensors[f"{BASE}{module}.lora_embedding_A"] = normal(rank, out, std=0.3)
            tensors[f"{BASE}{module}.lora_embedding_B"] = normal(width, rank, std=0.3)
        else:
            tensors[f"{BASE}{module}.lora_A.weight"] = normal(rank, width, std=0.3)
            tensors[f"{BASE}{module}.lora_B.weight"] = normal(out, rank, std=0.3)
    return tensors


def merged(weights, config, tensors):
    out = {name: tensor.double().clone() for name, tensor in weights.items()}
    for name, a in tensors.items():
        own = name.removeprefix(BASE)
        if ".lora_embedding_A" in own:
            module = own.split(".lora_")[0]
            b = tensors[name.replace("embedding_A", "embedding_B")]
            out[module + ".weight"] += scale_of(config, module)[1] * (b.double() @ a.double()).T
        elif ".lora_A" in own:
            module = own.split(".lora_")[0]
            change = scale_of(config, module)[1] * (tensors[name.replace("lora_A", "lora_B")].double() @ a.double())
            out[module + ".weight"] += change.T if config.get("fan_in_fan_out") else change
        elif ".lora_" not in own:
            out[own.replace(".base_layer", "")] = a.double()
    return out


def save_adapter(folder, config, tensors, base="", file="adapter_model.safetensors", dtype=torch.float32):
    folder.mkdir(parents=True, exist_ok=True)
    whole = {"peft_type": "LORA", "base_model_name_or_path": str(base), "task_type": "CAUSAL_LM", "bias": "none", "lora_dropout": 0.05,
             "inference_mode": True, "init_lora_weights": True, "fan_in_fan_out": False, "use_dora": False, "target_modules": "all-linear",
             "modules_to_save": None, "rank_pattern": {}, "alpha_pattern": {}, "revision": None, "layers_to_transform": None, **config}
    (folder / "adapter_config.json").write_text(json.dumps(whole))
    stored = {name: tensor.to(dtype).contiguous() for name, tensor in tensors.items()}
    torch.save(stored, folder / file) if file.endswith(".bin") else save_file(stored, folder / file)
    return {name: tensor.double() for name, tensor in stored.items()}


def compare(analyze, tmp_path, adapter, whole, case, *arguments, float32=1e-4):
    """Every dataset of numbers; the merged model is stored in float64."""
    ids = token_ids(case.n, 5, case.config["vocab_size"])
    for dtype, tolerance in (("float64", 1e-9), ("float32", float32)):
        runs = []
        for path, more in ((adapter, arguments), (whole, ())):
            out = tmp_path / f"{len(runs)}-{dtype}.h5"
            told = analyze(path, ids, out, "--dtype", dtype, "--hidden", "--force", *map(str, more))
            assert "warning" not in (told.stdout + told.stderr).lower(), told.stdout + told.stderr
            runs.append(datasets(out))
        assert runs[0].keys() == runs[1].keys()
        for name, values in runs[1].items():
            if values.dtype.kind != "f" or name.startswith("hist/"):
                continue
            if dtype == "float64" or name.startswith(("hidden/residual", "hidden/logits")) and not name.endswith("_top"):
                np.testing.assert_allclose(runs[0][name], values, rtol=tolerance, atol=tolerance * max(1.0, np.nanmax(np.abs(values), initial=0.0)),
                                           err_msg=f"{dtype} {name}")


def of_layers(count, *modules):
    return [f"model.layers.{i}.{module}" for i in range(count) for module in modules]


ATTENTION = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj")
GATED = ("mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")
PLAIN = {"r": 4, "lora_alpha": 8}
# name: (case, config of the adapter, modules, options of factors)
CASES = {
    "all linear": (families.case("qwen2"), PLAIN, of_layers(3, *ATTENTION, *GATED), {}),
    "two targets": (families.case("llama", 97), {**PLAIN, "target_modules": ["q_proj", "self_attn.v_proj"]},
                    of_layers(3, "self_attn.q_proj", "self_attn.v_proj"), {}),
    "rank-stabilised": (families.case("qwen3", head_dim=16), {"r": 3, "lora_alpha": 5, "use_rslora": True}, of_layers(3, "self_attn.q_proj"), {}),
    "patterns": (families.case("llama"), {**PLAIN, "rank_pattern": {"q_proj": 2, r"^model\.layers\.1\.mlp\.up_proj": 6, "layers.2.mlp.down_proj": 1},
                                          "alpha_pattern": {"self_attn.k_proj": 3, r".*layers\.\d\.mlp.*_proj": 16}},
                 of_layers(3, *ATTENTION, *GATED), {}),
    "one matrix of q, k and v by head": (families.case("gpt_neox", num_key_value_heads="absent"), PLAIN,
                                         [f"gpt_neox.layers.{i}.{m}" for i in range(3) for m in ("attention.query_key_value", "mlp.dense_h_to_4h")], {}),
    "fused, one after the other": (families.case("phi3", 97), PLAIN, of_layers(3, "self_attn.qkv_proj", "mlp.gate_up_proj"), {}),
    "stored the other way round": (families.case("gpt2", **families.GPT), {**PLAIN, "fan_in_fan_out": True},
                                   [f"transformer.h.{i}.{m}" for i in range(3) for m in ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj")],
                                   {"turned": ("c_attn", "c_proj", "c_fc")}),
    "embedding and output": (families.case("llama", tie_word_embeddings=False), {"r": 5, "lora_alpha": 4},
                             ["model.embed_tokens", "lm_head"], {"embeddings": ("model.embed_tokens",)}),
    "bfloat16 factors in a .bin": (families.case("llama"), {**PLAIN, "r": 4}, of_layers(3, *ATTENTION), {}),
}


@pytest.mark.parametrize("name", CASES)
def test_an_adapter_is_the_merged_model(analyze, tmp_path, name):
    case, config, modules, options = CASES[name]
    weights = families.write(tmp_path / "base", case, 20 + len(name))
    stored = {"file": "adapter_model.bin", "dtype": torch.bfloat16} if ".bin" in name else {}
    tensors = save_adapter(tmp_path / "adapter", config, factors(weights, config, modules, 7, **options), tmp_path / "base", **stored)
    C.save(tmp_path / "merged", case.config, merged(weights, config, tensors), torch.float64)
    changed = {n for n, t in merged(weights, config, tensors).items() if not torch.equal(t, weights[n])}
    assert changed == {module + ".weight" for module in modules}
    compare(analyze, tmp_path, tmp_path / "adapter", tmp_path / "merged", case)


def test_experts_of_their_own_names(analyze, tmp_path):
    """mixtral's files hold a matrix for each expert, by whose names older versions of peft trained."""
    case = families.case("mixtral", num_local_experts=4, num_experts_per_tok=2)
    families.write(tmp_path / "base", case, 3)
    from safetensors.torch import load_file

    weights = load_file(tmp_path / "base" / "model.safetensors")
    modules = [f"model.layers.{i}.block_sparse_moe.experts.{e}.{w}" for i in range(3) for e in range(4) for w in ("w1", "w2", "w3")]
    tensors = save_adapter(tmp_path / "adapter", PLAIN, factors(weights, PLAIN, modules, 7), tmp_path / "base")
    C.save(tmp_path / "merged", case.config, merged(weights, PLAIN, tensors), torch.float64)
    compare(analyze, tmp_path, tmp_path / "adapter", tmp_path / "merged", case)


def test_whole_tensors_take_the_place_of_the_base(analyze, tmp_path):
    """modules_to_save, and the biases that bias = "all" trains."""
    case = families.case("qwen2", tie_word_embeddings=False)
    weights = families.write(tmp_path / "base", case, 4)
    normal = C.generator(9)
    tensors = factors(weights, PLAIN, of_layers(3, "self_attn.q_proj"), 7)
    tensors[BASE + "lm_head.weight"] = normal(*weights["lm_head.weight"].shape)
    tensors[BASE + "model.norm.modules_to_save.weight"] = normal(32, std=0.1, mean=1.0)
    tensors[BASE + "model.layers.1.self_attn.q_proj.base_layer.bias"] = normal(32)
    tensors = save_adapter(tmp_path / "adapter", {**PLAIN, "bias": "all", "modules_to_save": ["lm_head", "norm"]}, tensors, "../base")
    own = {name.replace(".modules_to_save", ""): tensor for name, tensor in tensors.items()}
    C.save(tmp_path / "merged", case.config, merged(weights, PLAIN, own), torch.float64)
    compare(analyze, tmp_path, tmp_path / "adapter", tmp_path / "merged", case)
    compare(analyze, tmp_path, tmp_path / "adapter" / "adapter_model.safetensors", tmp_path / "merged", case, "--base", tmp_path / "base")


def test_an_encoder_with_a_head_of_another_task(analyze, tmp_path):
    """Names of the base may lack the model's own part; a classifier is not run, of an adapter as of a checkpoint."""
    case = families.case("bert", **families.ENCODER)
    weights = families.write(tmp_path / "random", case, 5)
    C.save(tmp_path / "base", case.config, {name.removeprefix("bert."): tensor for name, tensor in weights.items() if name.startswith("bert.")})
    modules = [f"bert.encoder.layer.{i}.attention.self.{m}" for i in range(3) for m in ("query", "value")]
    config = {**PLAIN, "target_modules": ["query", "value"], "modules_to_save": ["classifier"], "task_type": "SEQ_CLS"}
    tensors = factors(weights, config, modules, 7) | {BASE + "classifier.weight": torch.zeros(2, 32), BASE + "classifier.bias": torch.zeros(2)}
    tensors = save_adapter(tmp_path / "adapter", config, tensors, tmp_path / "base")
    whole = merged(weights, config, {n: t for n, t in tensors.items() if "classifier" not in n})
    C.save(tmp_path / "merged", case.config, {n.removeprefix("bert."): t for n, t in whole.items() if n.startswith("bert.")}, torch.float64)
    compare(analyze, tmp_path, tmp_path / "adapter", tmp_path / "merged", case)


def test_over_a_gguf_file(analyze, tmp_path):
    """Rows that GGUF has in another order are changed where Hugging Face has them; blocks are dequantised first."""
    case = next(case for case in gguf_models.CASES if case.name == "llama")
    folder, file = gguf_models.write(tmp_path, case, 7, gguf.GGMLQuantizationType.Q8_0)
    from safetensors.torch import load_file

    weights = load_file(folder / "model.safetensors")
    tensors = save_adapter(tmp_path / "adapter", PLAIN, factors(weights, PLAIN, of_layers(3, *ATTENTION, *GATED), 7), "nowhere/at-all")
    whole = gguf_models.dataclasses.replace(case, config=json.loads((folder / "config.json").read_text()))
    C.save(tmp_path / "merged", whole.config, merged(weights, PLAIN, tensors), torch.float64)
    compare(analyze, tmp_path, tmp_path / "adapter", tmp_path / "merged", case, "--base", file)


@pytest.fixture
def folders(tmp_path):
    """A base and an adapter that fit: (folder of the adapter, its config, its tensors)."""
    case = families.case("llama")
    weights = families.write(tmp_path / "base", case, 20)
    config = {**PLAIN, "target_modules": ["q_proj", "v_proj"]}
    tensors = factors(weights, config, of_layers(3, "self_attn.q_proj", "self_attn.v_proj"), 7)
    return tmp_path, config, tensors


def test_inspect_says_what_is_changed_and_how(command, folders):
    folder, config, tensors = folders
    save_adapter(folder / "adapter", {**config, "lora_alpha": 6}, tensors, "../base")
    (folder / "base" / "tokenizer.json").write_text(json.dumps(
        {"model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "a"}, "added_tokens": []}))
    told = command("inspect", folder / "adapter")
    assert told.code == 0 and re.search(r"adapter +LoRA of rank 4, scale 1.5, of 6 matrices\n", told.text), told
    assert "base" in told.text and "WordLevel" in told.text, told
    assert "2 files" in told.text and max(map(len, told.text.splitlines())) <= 200
    found = command("inspect", folder / "adapter", "--json").json
    assert found["model_type"] == "llama" and found["adapter"]["peft_type"] == "LORA" and len(found["adapter"]["changes"]) == 6
    assert {change["scale"] for change in found["adapter"]["changes"]} == {1.5}
    assert command("tokenize", folder / "adapter", "--text", "b").code == 0


def test_both_files_are_in_the_provenance(analyze, folders):
    import h5py

    folder, config, tensors = folders
    save_adapter(folder / "adapter", config, tensors, folder / "base")
    analyze(folder / "adapter", [1, 2, 3], folder / "run.h5")
    with h5py.File(folder / "run.h5") as file:
        hashes = file.attrs["checkpoint_sha256"]
        assert file.attrs["model_id"] == "adapter"
    names = [line.split()[0] for line in (hashes.decode() if isinstance(hashes, bytes) else hashes).splitlines()]
    assert names == ["model.safetensors", "adapter_model.safetensors"]


REFUSED = {  # what changes in the config: exit code, words
    "dora": ({"use_dora": True}, 4, ["use_dora", "merge_and_unload"]),
    "another method": ({"peft_type": "IA3"}, 4, ["IA3", "LORA", "merge_and_unload"]),
    "changed base": ({"init_lora_weights": "pissa_niter_4"}, 4, ["pissa_niter_4"]),
    "parameters": ({"target_parameters": ["mlp.experts.gate_up_proj"]}, 4, ["target_parameters"]),
    "bias of B": ({"lora_bias": True}, 4, ["lora_bias"]),
    "tokens": ({"trainable_token_indices": [1]}, 4, ["trainable_token_indices"]),
    "more layers": ({"layer_replication": [[0, 2], [1, 3]]}, 4, ["layer_replication"]),
    "groups": ({"alpha_pattern": {"(q|v)_proj": 3}}, 4, ["(q|v)_proj"]),
    "two patterns": ({"alpha_pattern": {"q_proj": 3, "self_attn.q_proj": 2}}, 3, ["alpha_pattern", "q_proj"]),
    "another rank": ({"r": 8}, 3, ["lora_A", "8 rows"]),
    "no number": ({"lora_alpha": "16"}, 3, ["lora_alpha"]),
    "no target": ({"target_modules": ["q_proj"]}, 3, ["v_proj", "target_modules"]),
    "no rank": ({"r": 0}, 3, ["r"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_such_sum_is_refused(command, folders, name):
    folder, config, tensors = folders
    change, code, words = REFUSED[name]
    save_adapter(folder / "adapter", {**config, **change}, tensors, folder / "base")
    refused_both_ways(command, code, words, "analyze", folder / "adapter", "--ids", "1", "-o", folder / "run.h5")


Q = BASE + "model.layers.0.self_attn.q_proj."


def test_tensors_that_do_not_fit_are_named(command, folders):
    folder, config, tensors = folders
    config = {**config, "target_modules": "all-linear"}

    def refused(code, words, change, drop=(), **more):
        kept = {n: t for n, t in tensors.items() if n not in drop} | change
        save_adapter(folder / "adapter", {**config, **more}, kept, folder / "base")
        refused_both_ways(command, code, words, "analyze", folder / "adapter", "--ids", "1", "-o", folder / "run.h5")

    other = BASE + "model.layers.7.self_attn.q_proj.lora_"
    refused(3, ["does not have", other + "A.weight"], {other + "A.weight": torch.ones(4, 32), other + "B.weight": torch.ones(32, 4)})
    refused(3, ["does not use", "score.weight"], {BASE + "score.weight": torch.ones(2, 32)})
    refused(3, ["one of two factors", Q], {}, [Q + "lora_B.weight"])
    refused(3, ["do not fit each other", Q + "lora_B"], {Q + "lora_B.weight": torch.ones(32, 3)})
    refused(3, ["do not fit the weight", Q, "[32, 32]", "[16, 32]"], {Q + "lora_B.weight": torch.ones(16, 4)})
    refused(4, ["magnitude_vector"], {Q + "lora_magnitude_vector": torch.ones(32)})
    refused(3, ["no", "self_attn.q_proj.lora_A.weight"], {"model.layers.0.self_attn.q_proj.lora_A.weight": torch.ones(4, 32)})


def test_a_tied_embedding_cannot_be_told_apart(command, tmp_path):
    case = families.case("llama", tie_word_embeddings=True)
    weights = families.write(tmp_path / "base", case, 20)
    tensors = factors(weights, PLAIN, ["model.embed_tokens"], 7, embeddings=("model.embed_tokens",))
    save_adapter(tmp_path / "adapter", PLAIN, tensors, tmp_path / "base")
    refused_both_ways(command, 4, ["output layer", "merge_and_unload"], "analyze", tmp_path / "adapter", "--ids", "1", "-o", tmp_path / "run.h5")


def test_where_the_base_is(command, folders):
    folder, config, tensors = folders
    run = ("analyze", folder / "adapter", "--ids", "1,2", "-o", folder / "run.h5", "--force")
    for base in ("meta-llama/Llama-2-7b-hf", ""):
        save_adapter(folder / "adapter", config, tensors, base)
        refused_both_ways(command, 5, ["--base", "base_model_name_or_path", base], *run)
    assert command(*run, "--base", folder / "base").code == 0
    refused_both_ways(command, 5, ["gone"], *run, "--base", folder / "gone")
    save_adapter(folder / "adapter", config, tensors, "../base")
    assert command(*run).code == 0
    refused_both_ways(command, 4, ["adapter itself"], *run, "--base", folder / "adapter")
    refused_both_ways(command, 2, ["no adapter"], "analyze", folder / "base", "--base", folder / "base", "--ids", "1", "-o", folder / "run2.h5")
    (folder / "adapter" / "adapter_model.safetensors").unlink()
    refused_both_ways(command, 3, ["adapter_model.safetensors"], *run)


def test_the_window_opens_one_over_a_base(program, display, tmp_path):
    import window as W

    case = families.case("llama")
    shown = W.Window(program, display, tmp_path)
    weights = families.write(shown.made / "base", case, 20)
    save_adapter(shown.made / "adapter", PLAIN, factors(weights, PLAIN, of_layers(3, "self_attn.q_proj"), 7), "not/here")
    made = "build/window/made/"
    (shown.made / "adapter" / "prompt_ids.txt").write_text("1 2 3 4 5 6 7 8")
    facts = shown.run(f"open.run {made}adapter {made}base\nwait\nexpect run.status == done\nexpect run.layers == 3\nexpect run.tokens == 8\n"
                      "expect errors == 0\nquit\n").facts
    assert "adapter" in facts["run.name"]
