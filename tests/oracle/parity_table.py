"""python parity_table.py PROGRAM FOLDER > core/model/PARITY.md: the table of what the tests found, from the lines that they keep in FOLDER
where HEADROOM_PARITY names it (ctest: build/tests/parity)."""
import collections
import json
import pathlib
import subprocess
import sys

import tokenizer_kinds

# What the published models of a type come with, by the algorithm; what holds it to the tokenizers library is below.
WORD_PIECE, UNIGRAM, SENTENCEPIECE, BYTES, OTHER = "WordPiece", "Unigram", "SentencePiece BPE", "byte-level BPE", "others"
TOKENIZERS = {
    (WORD_PIECE,): "bert distilbert electra",
    (UNIGRAM,): "xlm-roberta t5 mt5 mbart deberta-v2",
    (SENTENCEPIECE,): "gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text gemma4 gemma4_text llama-differential mixtral phi3 phimoe minicpm3 diffllama",
    (SENTENCEPIECE, BYTES): "llama mistral transformer diff_transformer",
}
# Models with images or sounds whose text_config is the decoder of another type: the same code, under its own names.
AROUND = {"gemma3n": "gemma3n_text", "gemma4": "gemma4_text", "qwen3_5": "qwen3_5_text"}
KINDS = {
    WORD_PIECE: ("bert", "wordpiece"), UNIGRAM: ("t5", "albert", "unigram"), SENTENCEPIECE: ("bpe llama",),
    BYTES: ("bpe gpt-2", "bpe cl100k", "bpe o200k", "bpe with byte-level"),
}
HEADER = """# Parity

Made by the tests (`tests/oracle/parity_table.py`), not by hand. Every case is a tiny random checkpoint with options of its config, run by
`headroom analyze` and compared, dataset by dataset, with float64 runs of transformers' own code (or, where transformers has no such model,
with the published equations written out in `tests/oracle`). An error is the largest difference over the largest value of the dataset's
layer and head. The tests fail above 1e-9 in float64; in float32 above 1e-4 (streams, logits) and 2e-4 (statistics).
"""


def tokenizers_of(model_type):
    return next((kinds for kinds, types in TOKENIZERS.items() if model_type in types.split()), (BYTES,))


def algorithm(kind):
    return next((name for name, begins in KINDS.items() if kind.startswith(begins)), OTHER)


def told(folder):
    for path in sorted(pathlib.Path(folder).glob("*.jsonl")):
        yield from map(json.loads, path.read_text().splitlines())


def worst(lines, dtype, group):
    values = [line[group] for line in lines if line["dtype"] == dtype]
    return f"{max(values):.0e}" if values else "–"


def gguf_cell(opened, lines):
    if not opened:
        return "–"
    rounded = sum(line["rounded"] for line in lines)
    near = f", {rounded} nearly" if rounded else ""
    return f"`{'`, `'.join(opened)}`: {len(lines) - rounded} equal{near}"


def table(families, lines):
    cases, files, texts = collections.defaultdict(list), collections.defaultdict(list), {}
    for line in lines:
        if "dtype" in line:
            cases[line["subject"]].append(line)
        elif "gguf" in line:
            files[line["subject"]].append(line)
        else:
            texts[line["subject"]] = line["texts"]
    yield HEADER
    wrapped = [family["model_type"] for family in families if family["model_type"] in AROUND]
    families = [family for family in families if family["model_type"] not in AROUND]
    yield "| `model_type` | reference | runs | float64: streams, logits | statistics | float32: streams, logits | statistics | GGUF, bit for bit | tokenizer |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for family in families:
        found = cases[family["model_type"]]
        errors = [worst(found, dtype, group) for dtype in ("float64", "float32") for group in ("hidden", "statistic")]
        references = " and ".join(sorted({line["reference"] for line in found}, reverse=True))
        cells = [f"`{family['model_type']}`", references, str(len(found)), *errors, gguf_cell(family["gguf"], files[family["model_type"]]),
                 ", ".join(tokenizers_of(family["model_type"]))]
        yield f"| {' | '.join(cells)} |"
    yield "\nEach case runs in float64 and in float32, most with other weights and tokens in each. GGUF files that are nearly equal hold a number of the config rounded (ε, divisors of frequencies)."
    yield "As the decoder of their `text_config`: " + ", ".join(f"`{outer}` as `{AROUND[outer]}`" for outer in wrapped) + "."
    yield "\nTokenizers are held to the `tokenizers` library, ids and what each token covers:\n"
    yield "| tokenizer | kinds | texts each | ids that differ |"
    yield "|---|---|---|---|"
    for name in (WORD_PIECE, UNIGRAM, SENTENCEPIECE, BYTES, OTHER):
        kinds = [kind for kind in tokenizer_kinds.KINDS if algorithm(kind) == name]
        yield f"| {name} | {'; '.join(kinds)} | {min(texts[kind] for kind in kinds):,} | 0 |"


if __name__ == "__main__":
    program, folder = sys.argv[1:]
    opened = json.loads(subprocess.run([program, "families", "--json"], capture_output=True, text=True, check=True).stdout)["families"]
    print("\n".join(table(opened, list(told(folder)))))
