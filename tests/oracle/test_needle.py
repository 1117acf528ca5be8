"""`headroom needle`: prompts built once more in Python with the `tokenizers` library; what heads give to spans, copies and recall against
the oracle's own dense maps in float64; statistics against NumPy and SciPy; golden numbers of another implementation for SmolLM2."""
import hashlib
import json
import os
import shutil
import signal
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
import tokenizers
import torch

import checkpoints as C
import forward
from command import refused, refused_both_ways
from conftest import ROOT
from test_corpus import KJV, LICENCES, STATISTICS, check_statistics, key, texts

BYTES = ROOT / "assets" / "demo" / "bytes" / "softmax"
CITIES = ("Amsterdam Athens Bangkok Barcelona Berlin Boston Cairo Chicago Dublin Geneva Helsinki Istanbul Jakarta Lisbon London Madrid "
          "Moscow Mumbai Oslo Paris Prague Seoul Tokyo Vienna").split()
SPANS = ["first", "answer", "needle", "distractor", "haystack", "question"]
MAPS = ["first", "second", "net"]
QUANTITIES = ["mass", "absolute", "energy", "output", "share"]
SMALL = {"vocab_size": 257, "max_position_embeddings": 512}
KINDS = {  # a model of each kind, and the changes that it runs with
    "softmax": ("softmax", {}, ()),
    "softmax_sink": ("softmax_sink", {"window": 200}, ()),
    "diff_v1": ("diff_v1", {"num_attention_heads": 2, "num_key_value_heads": 1}, ()),
    "diff_v2": ("diff_v2", {}, ()),
    "diff_v2 across groups": ("diff_v2", {}, ("pairing=halves",)),
    "diff_v2 changed": ("diff_v2", {}, ("L0.H1:second-map=off", "L1:lambda=1.5")),
}


class Prompts:
    """The prompts of a haystack, from their definition. `encode`: text → ids without a BOS; `piece`: id → text."""

    def __init__(self, ids, encode, piece, needles, seed, bos=None):
        self.ids, self.encode, self.piece, self.needles, self.seed, self.bos = ids, encode, piece, needles, seed, bos

    def prompt(self, length, depth, s):
        cities = sorted(range(len(CITIES)), key=lambda c: key(self.seed, 1000 + s, c))[: self.needles]
        numbers = [1000000 + key(self.seed, 2000 + s, k) % 9000000 for k in range(self.needles)]
        number_ids = [self.encode(f" {number}") for number in numbers]
        opening = [self.encode(f"\nThe special magic number for {CITIES[c]} is") for c in cities]
        end = self.encode(".\n")
        name = CITIES[cities[0]]
        question = self.encode(f"\nQuestion: What is the special magic number for {name}?\nAnswer: The special magic number for {name} is")
        others = sum(map(len, opening)) + sum(map(len, number_ids)) + self.needles * len(end) + len(question) + len(number_ids[0])
        room = length - others - (self.bos is not None)
        start = key(self.seed, 4000 + s) * (len(self.ids) - room + 1) >> 64
        hay = self.ids[start : start + room]
        places = [int(room * depth // 100)] + [key(self.seed, 3000 + s, k) % (room + 1) for k in range(1, self.needles)]
        for k, place in enumerate(places):
            while place > 0 and not set(self.piece(hay[place - 1])) & {".", "\n"}:
                place -= 1
            places[k] = place
        ids, spans, written = [], [], 0

        def put(part, span):
            ids.extend(part)
            spans.extend([span] * len(part))

        if self.bos is not None:
            put([self.bos], "first")
        for k in sorted(range(self.needles), key=lambda k: (places[k], k)):
            put(hay[written : places[k]], "haystack")
            written = places[k]
            put(opening[k], "needle" if k == 0 else "distractor")
            if k == 0:
                answer = len(ids)
            put(number_ids[k], "answer" if k == 0 else "distractor")
            put(end, "needle" if k == 0 else "distractor")
        put(hay[written:], "haystack")
        put(question + number_ids[0], "question")
        spans[0] = "first"
        assert len(ids) == length
        return {"ids": ids, "spans": np.array([SPANS.index(span) for span in spans]), "answer": answer, "tokens": len(number_ids[0]),
                "city": name, "number": numbers[0], "start": start, "room": room, "place": places[0]}


def library(folder):
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    return (lambda text: tokenizer.encode(text, add_special_tokens=False).ids), (lambda id: tokenizer.decode([id]))


@pytest.fixture(scope="module")
def needle(warm_command):
    def call(model, out, *arguments, code=0):
        outcome = warm_command("needle", str(model), "-o", str(out), "--device", "cpu", "--json", *map(str, arguments))
        assert outcome.code == code, outcome
        if code == 0:
            assert outcome.json["self_check"]["violations"] == []
        return outcome.json

    return call


def small_model(folder, kind, options=(), seed=3, dtype=torch.float64):
    model = C.headroom(folder, C.headroom_config(kind, **SMALL | dict(options)), seed, dtype)
    shutil.copy(BYTES / "tokenizer.json", folder)
    return model


def expected_of(model, prompt, what_ifs=()):
    """{quantity: [span, layer, head, map]}, retrieval [layer, head, map], recalled and loss of one prompt, from dense maps."""
    trace = forward.run(model, prompt["ids"], what_ifs)
    n, tokens = len(prompt["ids"]), prompt["tokens"]
    row = n - tokens - 1
    shape = (len(SPANS), len(trace.layers), len(trace.layers[0].heads), 3)
    found = {name: np.full(shape, np.nan) for name in QUANTITIES}
    retrieval = np.full(shape[1:], np.nan)
    for l, layer in enumerate(trace.layers):
        for h, head in enumerate(layer.heads):
            # Per map: its weights on every row, and what each key gives to the row's context.
            weights = [(m, one.a, one.a[row][:, None] * one.values) for m, one in enumerate(head.maps)]
            net = weights[0][2] if head.lam is None else weights[0][2] - head.lam[row] * weights[1][2]
            weights.append((2, head.w, net))
            norm = net.sum(0).norm()
            for m, w, given in weights:
                of_row = w[row].numpy()
                for span in range(len(SPANS)):
                    there = prompt["spans"] == span
                    found["mass"][span, l, h, m] = of_row[there].sum()
                    found["absolute"][span, l, h, m] = np.abs(of_row[there]).sum()
                    found["energy"][span, l, h, m] = (of_row[there] ** 2).sum()
                    found["output"][span, l, h, m] = given[torch.tensor(there)].sum(0).norm() / norm
            for of_map, w, _ in weights:
                copied = 0
                for m in range(tokens):
                    j = int(w[row + m].argmax())
                    copied += prompt["answer"] <= j < prompt["answer"] + tokens and prompt["ids"][j] == prompt["ids"][row + m + 1]
                retrieval[l, h, of_map] = copied / tokens
    found["share"] = found["absolute"] / found["absolute"].sum(0)
    answer = torch.tensor(prompt["ids"][row + 1 :])
    logits = trace.logits[row : n - 1]
    recalled = (logits.argmax(1) == answer).double().mean().item()
    loss = torch.nn.functional.cross_entropy(logits, answer).item()
    return found, retrieval, recalled, loss


CUT = ["--data", KJV, "--split", "blank", "--needles", "2", "--samples", "3", "--seed", "5"]


@pytest.mark.parametrize("bos", ["auto", "never"])
def test_prompts_are_those_of_their_definition(needle, tmp_path, bos):
    small_model(tmp_path / "model", "softmax")
    out = tmp_path / "n.h5"
    said = needle(tmp_path / "model", out, *CUT, "--lengths", "420,300", "--depths", "100,0,33.3", "--bos", bos, "--layers", "0")
    encode, piece = library(BYTES)
    # Documents are runs of lines that are not empty, with their line feeds, one behind the other.
    joined = [id for document in KJV.read_text().split("\n\n") for id in encode(document.strip("\n") + "\n" if document.strip("\n") else "")]
    prompts = Prompts(joined, encode, piece, 2, 5, 256 if bos == "auto" else None)
    assert said["document_tokens"] == len(joined) and said["complete"] and said["done"] == 6
    hashes = hashlib.sha256()
    with h5py.File(out) as file:
        assert file["length"][:].tolist() == [300, 420] and file["depth"][:].tolist() == [0, 33.3, 100]
        assert texts(file["span"]) == SPANS and texts(file["map"]) == MAPS and texts(file["statistic"]) == STATISTICS
        samples = file["samples"]
        for l, length in enumerate((300, 420)):
            for d, depth in enumerate((0, 33.3, 100)):
                for s in range(3):
                    expected = prompts.prompt(length, depth, s)
                    ids = np.array(expected["ids"], dtype="<i4")
                    hashes.update(ids.tobytes())
                    assert samples["token_id"][l, d, s, :length].tolist() == expected["ids"]
                    assert (samples["token_id"][l, d, s, length:] == -1).all()
                    assert samples["ids_sha256"][l, d, s].decode() == hashlib.sha256(ids.tobytes()).hexdigest()
                    assert (samples["answer_first"][l, d, s], samples["needle_place"][l, d, s]) == (expected["answer"], expected["place"])
                    assert (samples["haystack_start"][l, s], samples["haystack_tokens"][l, s]) == (expected["start"], expected["room"])
                    assert (texts(samples["city"])[s], samples["number"][s]) == (expected["city"], expected["number"])
                    assert samples["answer_tokens"][s] == expected["tokens"] == 8
        assert file.attrs["ids_sha256"] == hashes.hexdigest() and file.attrs["schema_name"] == "headroom-needle"
        assert file.attrs["needles"] == 2 and file.attrs["seed"] == "5" and file.attrs["complete"] == 1


@pytest.fixture(scope="module", params=KINDS)
def measured(request, needle, tmp_path_factory):
    """A run in float64 of a model of every kind, with the values of every sample."""
    folder = tmp_path_factory.mktemp("needle")
    kind, options, what_ifs = KINDS[request.param]
    model = small_model(folder / "model", kind, options)
    cut = [*CUT, "--lengths", "300", "--depths", "20,90", "--by-sample", "--dtype", "float64"]
    for text in what_ifs:
        cut += ["--what-if", text]
    said = needle(folder / "model", folder / "n.h5", *cut)
    return model, what_ifs, folder / "n.h5", said, cut


def test_spans_copies_and_recall_are_those_of_dense_maps(measured):
    model, what_ifs, out, said, _ = measured
    encode, piece = library(BYTES)
    with h5py.File(out) as file:
        samples = file["samples"]
        for d in range(2):
            for s in range(3):
                ids = samples["token_id"][0, d, s].tolist()
                prompts = Prompts([], encode, piece, 2, 5, 256)
                prompt = {"ids": ids, "answer": samples["answer_first"][0, d, s], "tokens": 8, "spans": spans_of(ids, prompts, s)}
                found, retrieval, recalled, loss = expected_of(model, prompt, what_ifs)
                for name in QUANTITIES:
                    np.testing.assert_allclose(samples[name][0, d, s], found[name], rtol=1e-8, atol=1e-10, err_msg=name)
                np.testing.assert_allclose(samples["retrieval_score_of_map"][0, d, s], retrieval, atol=1e-12)
                np.testing.assert_allclose(samples["retrieval_score"][0, d, s], retrieval[..., 2], atol=1e-12)
                assert samples["recalled"][0, d, s] == pytest.approx(recalled, abs=1e-12)
                assert samples["answer_loss"][0, d, s] == pytest.approx(loss, rel=1e-9)
        # The spans are all of the keys.
        net = samples["mass"][:].sum(3)[..., 0]
        if model.config["attention"]["kind"] != "softmax_sink":
            np.testing.assert_allclose(net[~np.isnan(net)], 1, atol=1e-9)
    assert said["recalled"]["count"] == 6 and said["cells"][1]["depth"] == 90


def spans_of(ids, prompts, s):
    """Spans by looking for the sentences in the ids themselves."""
    spans = np.full(len(ids), SPANS.index("haystack"))
    cities = sorted(range(len(CITIES)), key=lambda c: key(5, 1000 + s, c))[:2]
    text = "".join(chr(id) if id < 256 else "\0" for id in ids)
    for k, city in enumerate(cities):
        number = 1000000 + key(5, 2000 + s, k) % 9000000
        opening = f"\nThe special magic number for {CITIES[city]} is"
        begin = text.index(f"{opening} {number}.\n")
        inside = begin + len(opening)
        spans[begin : inside + 10] = SPANS.index("distractor" if k else "needle")
        if k == 0:
            spans[inside : inside + 8] = SPANS.index("answer")
            spans[text.index(f"\nQuestion: What is the special magic number for {CITIES[city]}?") :] = SPANS.index("question")
    spans[0] = SPANS.index("first")
    return spans


@pytest.mark.parametrize("measured", ["diff_v2", "softmax"], indirect=True)
def test_statistics_are_those_of_the_samples(measured):
    _, _, out, said, _ = measured
    with h5py.File(out) as file:
        samples, documents = file["samples"], np.arange(3)
        where = np.where(samples["recalled"][:][..., None, None] > 0.5, samples["retrieval_score"][:], np.nan)
        tables = {name: samples[name][:] for name in [*QUANTITIES, "retrieval_score", "retrieval_score_of_map", "recalled", "answer_loss"]}
        tables["retrieval_score_recalled"] = where
        for name in QUANTITIES:
            heads = tables[name].reshape(1, 2, 3, 6, -1, 3)
            known = ~np.isnan(heads)
            tables[name + "_over_heads"] = np.where(known.any(4), np.where(known, heads, 0).sum(4) / np.maximum(known.sum(4), 1), np.nan)
        random = np.random.default_rng(0)
        for name, values in tables.items():
            stored = file[name][:]
            assert stored.shape == (10, 1, 2, *values.shape[3:])
            flat = values.reshape(1, 2, 3, -1)
            for column in random.choice(flat.shape[3], min(2, flat.shape[3]), replace=False):
                check_statistics(stored.reshape(10, 1, 2, -1)[:, 0, 1, column], flat[0, 1, :, column], documents)
        # Over all cells a sample is one cluster, wherever it stands.
        of_all = np.tile(documents, 2)
        check_statistics(file["overall/recalled"][:], samples["recalled"][:].ravel(), of_all)
        for name, values in (("retrieval_score", samples["retrieval_score"][:]), ("retrieval_score_recalled", where)):
            check_statistics(file["overall/" + name][:, 1, 0], values[0, :, :, 1, 0].ravel(), of_all)
        check_statistics(file["overall/retrieval_score_of_map"][:, 1, 0, 0], samples["retrieval_score_of_map"][0, :, :, 1, 0, 0].ravel(), of_all)
        listed = {head["head"]: head for head in said["heads"]}["L1.H0"]["retrieval_score_of_map"]["first"]
        assert listed["mean"] == file["overall/retrieval_score_of_map"][0, 1, 0, 0]
        share = {span: cell for span, cell in said["cells"][0]["share_over_heads"].items()}
        assert share["answer"]["mean"] == file["share_over_heads"][0, 0, 0, 1, 2]


@pytest.mark.parametrize("measured", ["diff_v2"], indirect=True)
def test_some_heads_one_by_one_and_in_float32(measured, needle, tmp_path):
    """Nothing depends on what is measured beside, and float32 differs by its rounding."""
    model, _, out, _, cut = measured
    folder = out.parent / "model"
    needle(folder, tmp_path / "some.h5", *cut, "--layers", "1", "--heads", "0,1", "--batch-tokens", "1", "--no-ids")
    single = [word for word in cut if word not in ("--dtype", "float64")]
    needle(folder, tmp_path / "f32.h5", *single)
    with h5py.File(out) as whole, h5py.File(tmp_path / "some.h5") as some, h5py.File(tmp_path / "f32.h5") as f32:
        assert "token_id" not in some["samples"]
        for name in QUANTITIES:
            np.testing.assert_array_equal(some[name][:], whole[name][:, :, :, :, 1:2, 0:2], err_msg=name)
            np.testing.assert_allclose(f32["samples"][name][:], whole["samples"][name][:], rtol=2e-3, atol=2e-4, err_msg=name)
        np.testing.assert_array_equal(some["overall/retrieval_score"][:], whole["overall/retrieval_score"][:, 1:2, 0:2])
        np.testing.assert_allclose(f32["answer_loss"][0], whole["answer_loss"][0], rtol=1e-4)


def test_ids_are_a_haystack_too(needle, tmp_path):
    model, cut = tmp_path / "model", ["--lengths", "300", "--needles", "2", "--samples", "2", "--depths", "50"]
    small_model(model, "softmax")
    encode, _ = library(BYTES)
    text = KJV.read_text()[:3000]
    (tmp_path / "a.txt").write_text(text)
    np.save(tmp_path / "a.npy", np.array(encode(text), dtype=np.int32))
    for name in ("a.txt", "a.npy"):
        needle(model, tmp_path / f"{name}.h5", "--data", tmp_path / name, *cut)
    with h5py.File(tmp_path / "a.txt.h5") as a, h5py.File(tmp_path / "a.npy.h5") as b:
        assert a.attrs["ids_sha256"] == b.attrs["ids_sha256"]
        np.testing.assert_array_equal(a["mass"][:], b["mass"][:])


def test_golden_of_smollm2(needle, demo_gguf, tmp_path):
    """SmolLM2 in eight licences: transformers' own forward in float64."""
    said = needle(demo_gguf, tmp_path / "n.h5", "--data", LICENCES, "--field", "ids", "--lengths", "384", "--depths", "50", "--needles", "3",
                  "--samples", "1", "--seed", "11")
    assert said["recalled"]["mean"] == 0.875 and said["document_tokens"] == 28021
    with h5py.File(tmp_path / "n.h5") as file:
        samples = file["samples"]
        assert (texts(samples["city"]), samples["number"][:].tolist()) == (["Barcelona"], [6299194])
        assert texts(samples["ids_sha256"][:].ravel()) == ["5317135282f7e61fab31786bb52fb27f1f1854083b10f4ea365611805df08b51"]
        assert (samples["answer_first"][0, 0, 0], samples["answer_tokens"][0]) == (170, 8)
        mean = file["mass_over_heads"][0, 0, 0, :, 2]
        np.testing.assert_allclose(mean, [0.223713, 0.013772, 0.027076, 0.041880, 0.319593, 0.373965], atol=3e-5)
        np.testing.assert_allclose(file["mass"][0, 0, 0, :, 18, 6, 2], [0.055512, 0.824080, 0.000024, 0.118590, 0.001693, 0.000101], atol=3e-5)
        scores = file["retrieval_score"][0, 0, 0]
        assert scores[18, 6] == 1.0
        # transformers' own maps: on each row that predicts a token of the answer the largest weight is on that token in the needle.
        config, weights = C.read_gguf_llama(demo_gguf)
        net = C.transformers_model("llama", config, weights, torch.float32)
        ids = samples["token_id"][0, 0, 0]
        with torch.no_grad():
            told = net(torch.tensor([ids.tolist()]), output_attentions=True, use_cache=False)
        row = np.arange(384 - 9, 384 - 1)
        largest = torch.stack([maps[0, :, row].argmax(-1) for maps in told.attentions]).numpy()  # layer, head, row
        copied = (largest >= 170) & (largest < 178) & (ids[largest] == ids[row + 1])
        np.testing.assert_allclose(scores, copied.mean(2), atol=1e-12)
        assert 10 < (copied.mean(2) >= 0.1).sum() < 50
        recalled = (told.logits[0, row].argmax(-1).numpy() == ids[row + 1]).mean()
        assert recalled == file["recalled"][0, 0, 0] == 0.875
        np.testing.assert_array_equal(file["retrieval_score_recalled"][0, 0, 0], scores)  # more than half
        np.testing.assert_array_equal(file["overall/retrieval_score_recalled"][0], scores)


def test_129_a_prompt_that_is_not_finite_has_no_numbers_from_there_on(needle, tmp_path):
    """The embedding of "7" is infinite: prompts whose numbers hold one."""
    model = small_model(tmp_path / "model", "softmax", dtype=torch.float32)
    cut = ["--data", KJV, "--split", "blank", "--needles", "2", "--samples", "6", "--seed", "5", "--lengths", "300", "--depths", "50", "--by-sample"]
    needle(tmp_path / "model", tmp_path / "clean.h5", *cut)
    weights = {name: tensor.float() for name, tensor in model.weights.items()}
    weights["model.embed_tokens.weight"][ord("7")] = torch.inf
    C.save(tmp_path / "model", model.config, weights)
    said = needle(tmp_path / "model", tmp_path / "some.h5", *cut, code=8)
    with h5py.File(tmp_path / "clean.h5") as other, h5py.File(tmp_path / "some.h5") as file:
        there = (file["samples/token_id"][0, 0] == ord("7")).any(1)
        assert 0 < there.sum() < 6 and said["non_finite"] == there.sum()
        for name in [*QUANTITIES, "retrieval_score", "retrieval_score_of_map", "recalled", "answer_loss"]:
            stored = file["samples"][name][0, 0]
            assert np.isnan(stored[there]).all(), name
            np.testing.assert_array_equal(stored[~there], other["samples"][name][0, 0][~there], err_msg=name)
            assert (file[name][STATISTICS.index("count"), 0, 0] <= (~there).sum()).all(), name


def test_136_what_cannot_be_run_is_refused(warm_command, tmp_path):
    model = tmp_path / "model"
    small_model(model, "softmax")
    (tmp_path / "a.txt").write_text("In the beginning. " * 40)
    base = ["needle", str(model), "-o", str(tmp_path / "n.h5"), "--data", str(tmp_path / "a.txt")]
    refused_both_ways(warm_command, 2, ["--lengths", "more than", "for 1 needles", "100"], *base, "--lengths", "100", "--needles", "1")
    refused(warm_command(*base, "--lengths", "100"), 2, "--lengths", "more than", "for 6 needles", "100")
    refused(warm_command(*base, "--lengths", "1500", "--needles", "1"), 3, "a.txt", "--data", "720 in 1 documents")
    refused(warm_command(*base, "--lengths", "300,300", "--needles", "1"), 2, "--lengths", "300 twice")
    refused(warm_command(*base, "--lengths", "300", "--depths", "0,101"), 2, "--depths")
    refused(warm_command(*base, "--lengths", "300", "--needles", "25"), 2, "--needles")
    refused(warm_command(*base, "--lengths", "300", "--samples", "1001"), 2, "--samples")
    small_model(tmp_path / "learned", "softmax", {"position": "learned"})
    refused(warm_command("needle", str(tmp_path / "learned"), *base[2:], "--lengths", "600", "--needles", "2"), 2, "at most 512", "600")
    refused(warm_command(*base), 2, "--lengths")
    refused(warm_command(*base[:4], "--lengths", "300"), 2, "--data")
    refused(warm_command(*base[:4], "--data", str(tmp_path / "none"), "--lengths", "300"), 5, "none")
    (tmp_path / "ids.jsonl").write_text(json.dumps({"ids": [5, 257]}) + "\n")
    refused(warm_command(*base[:4], "--data", str(tmp_path / "ids.jsonl"), "--field", "ids", "--lengths", "300"), 3, "ids.jsonl", "0 to 256", "257")
    (model / "tokenizer.json").rename(model / "other.json")
    refused(warm_command(*base, "--lengths", "300"), 5, "tokenizer", "are sentences")
    (model / "other.json").rename(model / "tokenizer.json")
    (tmp_path / "n.h5").write_bytes(b"mine")
    refused(warm_command(*base, "--lengths", "300", "--needles", "1"), 2, "n.h5", "--force")
    assert (tmp_path / "n.h5").read_bytes() == b"mine"
    refused(warm_command("needle", str(model), "-o", str(tmp_path / "a.txt"), "--data", str(tmp_path / "a.txt"), "--lengths", "300", "--force"), 2,
            "a.txt")


def test_136_an_encoder_reads_no_needles(warm_command, encoder, tmp_path):
    outcome = warm_command("needle", str(encoder), "-o", str(tmp_path / "n.h5"), "--data", str(KJV), "--lengths", "300", "--needles", "2")
    refused(outcome, 4, "next token")
    assert not (tmp_path / "n.h5").exists()


def test_137_what_a_stopped_run_has_done_is_kept(command, tmp_path):
    """A signal between two cells: those that are done are in a file that says it is not complete."""
    small_model(tmp_path / "model", "softmax")
    out = tmp_path / "n.h5"
    process = command.start("needle", str(tmp_path / "model"), "-o", str(out), "--device", "cpu", "--data", str(KJV), "--lengths", "500", "--needles", "2",
                            "--samples", "40", "--depths", ",".join(map(str, range(100))))
    hidden = lambda: any(path.is_file() and path.name != "n.h5" and path.stat().st_size > 300_000 for path in tmp_path.iterdir())
    used = lambda: sum(map(int, Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    deadline = time.monotonic() + 120
    while not hidden() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert hidden() and process.poll() is None
    # A cell takes less than two seconds of processor, all of them more than a minute.
    until = used() + 6
    while process.poll() is None and used() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out.exists(), err
    with h5py.File(out) as file:
        done = int(file.attrs["cells_done"])
        assert 0 < done < 100 and file.attrs["complete"] == 0 and f"{done} of 100 cells".encode() in err
        assert np.isfinite(file["recalled"][0, 0, :done]).all() and np.isnan(file["recalled"][0, 0, done:]).all()


def test_what_is_said_of_the_file(command, needle, tmp_path):
    small_model(tmp_path / "model", "diff_v2")
    out = tmp_path / "n.h5"
    needle(tmp_path / "model", out, *CUT, "--lengths", "300", "--depths", "0,100")
    inspected = command("inspect", str(out))
    assert inspected.code == 0 and "needles" in inspected.text and "recalled" in inspected.text, inspected
    assert command("inspect", "--json", str(out)).json["format"] == "needles"
    assert "FAILED" not in inspected.text
    sentence = "length 300, depth 0 %, sample 0: L1.H0 row 9: the row sum of the first map is 1.5, expected 1 (a bug: please report it)"
    with h5py.File(out, "r+") as file:
        assert file.attrs["self_check"] == ""
        file.attrs["self_check"] = sentence
    assert f"FAILED: {sentence}" in command("inspect", str(out)).text
    assert command("inspect", "--json", str(out)).json["self_check"]["violations"] == [sentence]
    plain = command("needle", str(tmp_path / "model"), "-o", str(out), "--force", "--device", "cpu", *map(str, CUT), "--lengths", "300", "--depths", "0,100")
    assert plain.code == 0 and "2 of 2 cells" in plain.text and "of 8 heads have a retrieval score of 0.1 or more" in plain.text, plain
