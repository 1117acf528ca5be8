"""`headroom circuits` against NumPy in float64, from dense products of the stored weights: nothing of the program's factorisations is used."""
import dataclasses
import json
import pathlib
import subprocess

import h5py
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import checkpoints as C
import families
from conftest import ROOT
from test_parity import build

CLOSE, COMPOSED = 1e-9, 2e-5  # float64; compositions are products in float32


@dataclasses.dataclass
class Layer:
    """Weights as matrices that multiply x: q [blocks, d, D], v likewise, o [heads, D, channels]; norm gains apart."""
    gain: np.ndarray
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    o: np.ndarray
    centred: bool = False
    head_gain: float | np.ndarray = 1.0  # of DIFF V1, with its factor


@dataclasses.dataclass
class Net:
    layers: list
    programs: list  # of a head: (first q, first k), (second q, second k) or None, value blocks
    embedding: np.ndarray
    unembedding: np.ndarray
    final_gain: np.ndarray


def array(tensor):
    return np.asarray(tensor.double() if isinstance(tensor, torch.Tensor) else tensor, dtype=np.float64)


def blocks(matrix, width):
    return matrix.reshape(-1, width, matrix.shape[-1])


def softmax_programs(heads, kv):
    return [((h, h * kv // heads), None, (h * kv // heads,)) for h in range(heads)]


def diff_v2_programs(heads, kv):
    group = 2 * heads // kv
    return [((2 * h, 2 * h // group), (2 * h + 1, 2 * h // group), (2 * h // group,)) for h in range(heads)]


def diff_v1_programs(heads, kv):
    pair = [2 * (h // (heads // kv)) for h in range(heads)]
    return [((2 * h, pair[h]), (2 * h + 1, pair[h] + 1), (pair[h], pair[h] + 1)) for h in range(heads)]


def headroom_net(config, w):
    """A folder of the family `headroom` (and, with the names of llama, any llama)."""
    d, heads, kv = config["head_dim"], config["num_attention_heads"], config["num_key_value_heads"]
    kind = config.get("attention", {}).get("kind", "softmax")
    programs = {"diff_v1": diff_v1_programs, "diff_v2": diff_v2_programs}.get(kind, softmax_programs)(heads, kv)
    layers = []
    for l in range(config["num_hidden_layers"]):
        p, s = f"model.layers.{l}.", f"model.layers.{l}.self_attn."
        o = array(w[s + "o_proj.weight"])
        layer = Layer(array(w[p + "input_layernorm.weight"]), *(blocks(array(w[s + f"{n}_proj.weight"]), d) for n in "qkv"),
                      o.reshape(o.shape[0], heads, -1).transpose(1, 0, 2))
        if kind == "diff_v1":
            layer.head_gain = (1 - (0.8 - 0.6 * np.exp(-0.3 * l))) * array(w[s + "subln.weight"])
        layers.append(layer)
    embedding = array(w["model.embed_tokens.weight"])
    unembedding = array(w["lm_head.weight"]) if "lm_head.weight" in w else embedding
    return Net(layers, programs, embedding, unembedding, array(w["model.norm.weight"]))


def demo_net(name):
    folder = ROOT / "assets" / "demo" / "bytes" / name
    return folder, headroom_net(json.loads((folder / "config.json").read_text()), load_file(folder / "model.safetensors"))


def gguf_net(path):
    """llama in GGUF. Rows of W_Q and W_K stand in llama.cpp's order, a permutation inside the head, which no number here sees."""
    from gguf import GGUFReader
    from gguf.quants import dequantize

    reader = GGUFReader(path)
    w = {t.name: np.asarray(dequantize(t.data, t.tensor_type), dtype=np.float64) for t in reader.tensors}
    count = 1 + max(int(name.split(".")[1]) for name in w if name.startswith("blk."))
    d, heads, kv = 64, 9, 3
    layers = []
    for l in range(count):
        o = w[f"blk.{l}.attn_output.weight"]
        layers.append(Layer(w[f"blk.{l}.attn_norm.weight"], *(blocks(w[f"blk.{l}.attn_{n}.weight"], d) for n in "qkv"),
                            o.reshape(o.shape[0], heads, d).transpose(1, 0, 2)))
    return Net(layers, softmax_programs(heads, kv), w["token_embd.weight"], w.get("output.weight", w["token_embd.weight"]),
               w["output_norm.weight"])


def reads(layer, matrix):
    """W G, with the centring of a LayerNorm."""
    gained = matrix * layer.gain
    return gained - gained.mean(axis=-1, keepdims=True) if layer.centred else gained


def values_of(net, layer, head):
    return np.concatenate([reads(layer, layer.v[b]) for b in net.programs[head][2]])


def output_of(layer, head):
    return layer.o[head] * layer.head_gain


def ov_of(net, layer, head):
    return output_of(layer, head) @ values_of(net, layer, head)


def qk_of(net, layer, head, component):
    q, k = net.programs[head][component]
    return reads(layer, layer.q[q]).T @ reads(layer, layer.k[k])


def effective(singular):
    return (singular**2).sum() ** 2 / (singular**4).sum()


def copying(mu):
    return mu.real.sum() / np.abs(mu).sum()


def cosine(a, b):
    return (a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b)


def near(found, wanted, tolerance=CLOSE, scale=None):
    found, wanted = np.atleast_1d(found), np.atleast_1d(wanted)
    there = ~np.isnan(wanted)
    assert np.array_equal(~np.isnan(found), there), (found, wanted)
    if there.any():
        largest = np.abs(wanted[there]).max() if scale is None else scale
        assert np.abs(found[there] - wanted[there]).max() <= tolerance * largest, (found, wanted)


def check_layer(net, file, l, heads):
    layer, vocabulary = net.layers[l], net.embedding.T @ net.unembedding[: len(net.embedding)]
    ovs = [ov_of(net, layer, h) for h in range(len(net.programs))]
    for h in heads:
        program = net.programs[h]
        values, output = values_of(net, layer, h), output_of(layer, h)
        rank = values.shape[0]
        singular = np.linalg.svd(ovs[h], compute_uv=False)[:rank]
        near(file["ov_singular_value"][l, h, :rank], singular)
        near(file["ov_effective_rank"][l, h], effective(singular))
        near(file["ov_largest_singular_value"][l, h], singular[0])
        for component in range(2):
            if program[component] is None:
                assert np.isnan(file["qk_singular_value"][l, h, component]).all() and np.isnan(file["qk_effective_rank"][l, h, component])
                continue
            d = layer.q.shape[1]
            singular = np.linalg.svd(qk_of(net, layer, h, component), compute_uv=False)[:d]
            near(file["qk_singular_value"][l, h, component, :d], singular)
            near(file["qk_effective_rank"][l, h, component], effective(singular))
        square = values @ vocabulary @ (net.final_gain[:, None] * output)
        mu = np.linalg.eigvals(square)
        found = file["eigenvalue_real"][l, h, :rank] + 1j * file["eigenvalue_imaginary"][l, h, :rank]
        largest = np.abs(mu).max()
        assert (np.diff(np.abs(found)) <= 1e-9 * largest).all()
        for wanted in mu:  # a multiset: each has one of its own
            at = np.abs(found - wanted).argmin()
            assert abs(found[at] - wanted) <= 1e-7 * largest
            found[at] = np.inf
        assert abs(file["copying_score"][l, h] - copying(mu)) <= 1e-8
        width = layer.v.shape[1]
        for slot in range(len(program[2])):
            if len(program[2]) == 1:
                continue
            part = slice(slot * width, (slot + 1) * width)
            assert abs(file["block_copying_score"][l, h, slot] - copying(np.linalg.eigvals(square[part, part]))) <= 1e-8
            singular = np.linalg.svd(output[:, part] @ values[part], compute_uv=False)[:width]
            near(file["block_singular_value"][l, h, slot, :width], singular)
            near(file["block_effective_rank"][l, h, slot], effective(singular))
        if program[1] is not None:
            near(file["qk_alignment"][l, h], cosine(qk_of(net, layer, h, 0), qk_of(net, layer, h, 1)), scale=1.0)
            same = program[0][1] == program[1][1]
            wanted = cosine(*(reads(layer, layer.q[program[c][0]]) for c in range(2))) if same else np.nan
            near(file["query_alignment"][l, h], wanted, scale=1.0)
        shared = [other for other in range(len(net.programs)) if net.programs[other][2] == program[2]]
        for other in range(len(net.programs)):
            wanted = cosine(output, output_of(layer, other)) if other in shared else np.nan
            near(file["output_alignment"][l, h, other], wanted, scale=1.0)
            near(file["ov_alignment"][l, h, other], cosine(ovs[h], ovs[other]), scale=1.0)
        others = [cosine(output, output_of(layer, other)) for other in shared if other != h]
        near(file["output_alignment_mean"][l, h], np.mean(others) if others else np.nan, scale=1.0)


def check_compositions(net, file, pairs):
    assert file["composition_null"][()] == pytest.approx(net.embedding.shape[1] ** -0.5, rel=1e-12)
    for (l, h), (m, g) in pairs:
        source = ov_of(net, net.layers[m], g)
        target = ov_of(net, net.layers[l], h)
        size = np.linalg.norm(source)
        near(file["v_composition"][l, h, m, g], np.linalg.norm(target @ source) / np.linalg.norm(target) / size, COMPOSED)
        for component in range(2):
            if net.programs[h][component] is None:
                assert np.isnan(file["q_composition"][l, h, component, m, g])
                continue
            qk = qk_of(net, net.layers[l], h, component)
            near(file["q_composition"][l, h, component, m, g], np.linalg.norm(qk.T @ source) / np.linalg.norm(qk) / size, COMPOSED)
            near(file["k_composition"][l, h, component, m, g], np.linalg.norm(qk @ source) / np.linalg.norm(qk) / size, COMPOSED)


@pytest.fixture(scope="module")
def circuits(program):
    def call(path, out, *arguments):
        command = [str(program), "circuits", str(path), "-o", str(out), "--json", *arguments]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout[-2000:]}\n{result.stderr[-4000:]}"
        return json.loads(result.stdout)

    return call


def random_headroom(kind):
    def make(folder):
        config = C.headroom_config(kind)
        return folder, headroom_net(config, build(folder, "headroom", config, {}, 31).weights)

    return make


def random_llama(folder):
    config = C.llama_config(num_attention_heads=8, num_key_value_heads=2)
    model = build(folder, "llama", config, {}, 5)
    return folder, headroom_net({**config, "head_dim": config["hidden_size"] // 8}, model.weights)


def random_gpt2(folder):
    """LayerNorm, fused and transposed weights, biases (left out), tied embedding."""
    config = C.gpt2_config()
    w = {k: array(v) for k, v in build(folder, "gpt2", config, {}, 6).weights.items()}
    dim, heads = config["n_embd"], config["n_head"]
    layers = []
    for l in range(config["n_layer"]):
        q, k, v = (blocks(part.T, dim // heads) for part in np.split(w[f"h.{l}.attn.c_attn.weight"], 3, axis=1))
        o = w[f"h.{l}.attn.c_proj.weight"].T
        layers.append(Layer(w[f"h.{l}.ln_1.weight"], q, k, v, o.reshape(dim, heads, -1).transpose(1, 0, 2), centred=True))
    net = Net(layers, softmax_programs(heads, heads), w["wte.weight"], w["wte.weight"], w["ln_f.weight"])
    return folder, net


MAKERS = {"llama with groups": random_llama, "softmax": random_headroom("softmax"), "v1": random_headroom("diff_v1"),
          "v2": random_headroom("diff_v2"), "demo v1": lambda _: demo_net("diff_v1"), "demo v2": lambda _: demo_net("diff_v2")}


@pytest.mark.parametrize("name", MAKERS)
def test_every_head_equals_numpy(circuits, tmp_path, name):
    path, net = MAKERS[name](tmp_path / "model")
    told = circuits(path, tmp_path / "c.h5", "--composition")
    with h5py.File(tmp_path / "c.h5") as file:
        assert file.attrs["schema_name"] in ("headroom-circuits", b"headroom-circuits")
        assert file["copying_score"].shape == (len(net.layers), len(net.programs))
        heads = range(len(net.programs))
        for l in range(len(net.layers)):
            check_layer(net, file, l, heads)
            dim, channels = net.embedding.shape[1], net.layers[l].o.shape[2]
            assert file["output_alignment_null"][l] == pytest.approx((dim * channels) ** -0.5)
            assert file["ov_alignment_null"][l] == pytest.approx(1 / dim)
        check_compositions(net, file, [((l, h), (m, g)) for l in range(len(net.layers)) for m in range(l) for h in heads for g in heads])
        for l in range(len(net.layers)):
            assert np.isnan(file["v_composition"][l, :, l:]).all()
        for head in told["heads"]:
            l, h = (int(part[1:]) for part in head["head"].split("."))
            assert head["copying_score"] == pytest.approx(file["copying_score"][l, h], rel=1e-12)
    assert told["vocabulary"] == len(net.embedding) and told["refused"] == []


def test_layer_norm_centres_what_is_read_and_what_is_written(circuits, tmp_path):
    path, net = random_gpt2(tmp_path / "model")
    circuits(path, tmp_path / "c.h5")
    with h5py.File(tmp_path / "c.h5") as file:
        assert "q_composition" not in file
        for l, layer in enumerate(net.layers):
            for h in range(len(net.programs)):
                near(file["ov_singular_value"][l, h], np.linalg.svd(ov_of(net, layer, h), compute_uv=False)[: layer.v.shape[1]])
                written = layer.o[h] - layer.o[h].mean(axis=0)
                mu = np.linalg.eigvals(values_of(net, layer, h) @ net.embedding.T @ net.unembedding @ (net.final_gain[:, None] * written))
                assert abs(file["copying_score"][l, h] - copying(mu)) <= 1e-8


def test_smollm2(circuits, demo_gguf, tmp_path):
    """The heads of three layers against NumPy, and the numbers that this model is known by."""
    net = gguf_net(demo_gguf)
    told = circuits(demo_gguf, tmp_path / "c.h5", "--composition")
    with h5py.File(tmp_path / "c.h5") as file:
        for l, heads in ((0, (0, 8)), (16, (4,)), (27, (3, 5))):
            check_layer(net, file, l, heads)
        check_compositions(net, file, [((27, 3), (0, 1)), ((27, 3), (26, 8)), ((1, 0), (0, 0)), ((29, 8), (12, 4))])
        scores = file["copying_score"][...]
        assert ((scores > 0.9).sum(), (scores < 0).sum()) == (64, 95)
        assert scores[27, 3] == pytest.approx(0.993, abs=5e-4)
    assert told["vocabulary"] == 49152 and len(told["heads"]) == 270


def rotated(net_folder, out, seed):
    """The same checkpoint with W_Q, W_K and W_V, W_O turned inside every head; the rows of RoPE's pairs included, since QK is unrotated."""
    config = json.loads((net_folder / "config.json").read_text())
    w = {k: v.double() for k, v in load_file(net_folder / "model.safetensors").items()}
    d, heads, kv = config["head_dim"], config["num_attention_heads"], config["num_key_value_heads"]
    g = torch.Generator().manual_seed(seed)
    for l in range(config["num_hidden_layers"]):
        s = f"model.layers.{l}.self_attn."
        for group in range(kv):
            for reader, writer in (("k", "q"), ("v", "o")):
                turn = torch.linalg.qr(torch.randn(d, d, generator=g, dtype=torch.float64))[0]
                rows = slice(group * d, (group + 1) * d)
                w[s + f"{reader}_proj.weight"][rows] = turn @ w[s + f"{reader}_proj.weight"][rows]
                for h in range(heads // kv * group, heads // kv * (group + 1)):
                    rows = slice(h * d, (h + 1) * d)
                    if writer == "q":
                        w[s + "q_proj.weight"][rows] = turn @ w[s + "q_proj.weight"][rows]
                    else:
                        w[s + "o_proj.weight"][:, rows] = w[s + "o_proj.weight"][:, rows] @ turn.T
    C.save(out, config, w, torch.float64)


def test_no_number_sees_a_rotation_inside_the_head(circuits, tmp_path):
    config = C.headroom_config("softmax")
    build(tmp_path / "model", "headroom", config, {}, 12)
    rotated(tmp_path / "model", tmp_path / "turned", 3)
    circuits(tmp_path / "model", tmp_path / "a.h5", "--composition")
    circuits(tmp_path / "turned", tmp_path / "b.h5", "--composition")
    with h5py.File(tmp_path / "a.h5") as a, h5py.File(tmp_path / "b.h5") as b:
        for name in a:
            if a[name].dtype.kind == "f" and a[name].ndim > 1 and not name.startswith("eigenvalue"):
                near(b[name][...], a[name][...], 2e-6)
        w = [load_file(tmp_path / n / "model.safetensors")["model.layers.0.self_attn.v_proj.weight"].double() for n in ("model", "turned")]
        assert (w[0] - w[1]).abs().max() > 0.05  # agreement of the same file with itself would be none


def test_layers_and_heads_are_those_of_the_whole(circuits, tmp_path):
    config = C.headroom_config("diff_v2", num_hidden_layers=3)
    build(tmp_path / "model", "headroom", config, {}, 8)
    circuits(tmp_path / "model", tmp_path / "all.h5", "--composition")
    circuits(tmp_path / "model", tmp_path / "some.h5", "--composition", "--layers", "0,2", "--heads", "1,3")
    with h5py.File(tmp_path / "all.h5") as whole, h5py.File(tmp_path / "some.h5") as some:
        assert list(some["layer"]) == [0, 2] and list(some["head"]) == [1, 3]
        for name in ("copying_score", "ov_singular_value", "output_alignment", "qk_alignment"):
            near(some[name][...], whole[name][...][[0, 2]][:, [1, 3]])
        near(some["k_composition"][1, :, :, 0], whole["k_composition"][2, [1, 3]][:, :, 0][:, :, [1, 3]])


def test_what_a_person_reads(program, tmp_path):
    config = C.headroom_config("diff_v2")
    build(tmp_path / "model", "headroom", config, {}, 8)
    out = tmp_path / "c.h5"
    result = subprocess.run([program, "circuits", tmp_path / "model", "-o", out], capture_output=True, text=True)
    assert result.returncode == 0
    for words in ("2 layers × 4 heads from weights alone", "Copying: ", "through all 53 tokens", "QK of the second map", "Left out: ", "--composition"):
        assert words in result.stdout, result.stdout
    again = subprocess.run([program, "circuits", tmp_path / "model", "-o", out], capture_output=True, text=True)
    assert again.returncode == 2 and "--force" in again.stderr + again.stdout
    told = subprocess.run([program, "inspect", out, "--json"], capture_output=True, text=True)
    assert json.loads(told.stdout)["format"] == "circuits"
    assert subprocess.run([program, "circuits", tmp_path / "model", "-o", out, "--force", "--layers", "7"], capture_output=True).returncode == 2
    assert not list(tmp_path.glob("*.tmp*"))


REFUSED = [("deepseek_v2", "latent attention"), ("deepseek_v3", "latent attention")]


@pytest.mark.parametrize(("family", "reason"), REFUSED)
def test_latent_attention_is_refused(program, tmp_path, family, reason):
    case = next(case for case in families.CASES if case.name.split()[0] == family)
    families.write(tmp_path / "model", case, 4)
    result = subprocess.run([program, "circuits", tmp_path / "model", "-o", tmp_path / "c.h5", "--json"], capture_output=True, text=True)
    error = json.loads(result.stdout)["error"]
    assert result.returncode == 4 and error["code"] == "unsupported" and reason in error["message"]
    assert not (tmp_path / "c.h5").exists()


def test_post_norms_have_spectra_and_no_path(circuits, tmp_path):
    case = next(case for case in families.CASES if case.name.split()[0] == "bert")
    families.write(tmp_path / "model", case, 4)
    told = circuits(tmp_path / "model", tmp_path / "c.h5")
    assert any("several norms" in note or "no unembedding" in note or "stands between" in note for note in told["refused"]), told["refused"]
    with h5py.File(tmp_path / "c.h5") as file:
        assert np.isnan(file["copying_score"][...]).all() and np.isfinite(file["ov_effective_rank"][...]).all()
        assert file["path_refused"][0] and not file["ov_refused"][0]


def test_the_document_is_that_of_the_program(command):
    document = pathlib.Path(ROOT / "core" / "measure" / "CIRCUITS.md").read_text()
    assert command("quantities", "--circuits", "--markdown").text == document
