"""Every kind of tokenizer against the `tokenizers` library, and against the algorithms written out, on hostile texts."""
import base64
import bisect
import functools
import itertools
import json
import struct
import unicodedata

import gguf
import numpy as np
import pytest
import regex
from tokenizers import Regex, Tokenizer, pre_tokenizers

import tokenizer_kinds as K
from command import refused_both_ways
from make_tokenizer_fixtures import CL100K, GPT2, O200K, QWEN2

# Every token of these covers exactly the characters that the library says. Elsewhere a token that normalisation made of
# several characters, or that was put in, may cover others (check_ranges).
EXACT = {"bert cased", "wordpiece of short words", "bpe gpt-2", "bpe o200k digits", "bpe with continuing prefix",
         "bpe with byte-level normalizer", "word level by scripts", "word level by punctuation"}


@pytest.fixture(scope="module")
def texts():
    found = K.hostile_texts(20261123)
    assert len(found) >= 10000
    return found


@pytest.fixture
def tokenize(command, tmp_path):
    """tokenize(path, texts) → what `headroom tokenize` says of each."""
    def call(path, lines, *arguments):
        file = tmp_path / "texts.jsonl"
        file.write_text("".join(json.dumps(text) + "\n" for text in lines))
        outcome = command("tokenize", path, "--json-lines", file, *arguments)
        assert outcome.code == 0, outcome
        answers = [json.loads(line) for line in outcome.text.split("\n")[:-1]]
        assert len(answers) == len(lines)
        return answers
    return call


def check_ids(answers, expected, texts, name_of=str):
    wrong = [(text, [name_of(i) for i in want], [name_of(i) for i in answer["ids"]])
             for text, answer, want in zip(texts, answers, expected) if answer["ids"] != want]
    assert not wrong, f"{len(wrong)} of {len(texts)}: {wrong[:3]}"


@functools.cache
def places(text):
    """(where each character begins in UTF-8, the characters that are in a cluster with another): the same of every tokenizer."""
    starts = [0, *itertools.accumulate(len(char.encode()) for char in text)]
    clusters = (match.span() for match in regex.finditer(r"\X", text))
    return starts, frozenset(i for begin, end in clusters if end - begin > 1 for i in range(begin, end))


def check_ranges(text, answer, encoding, exact):
    """The characters that each token covers, against the library's.

    Differences that are meant: what was put in (a space in front) covers nothing here, the next character there; of
    characters that became bytes each token has its own; a cluster that was composed or reordered is covered as a whole,
    there by one of its characters; a replacement of several covers them all."""
    starts, in_cluster = places(text)
    offsets, specials = encoding.offsets, encoding.special_tokens_mask  # each access makes a list
    covered = {i for (begin, end), special in zip(offsets, specials) if not special for i in range(begin, end)}
    ours = set()
    for (begin, end), want, special in zip(answer["ranges"], offsets, specials):
        if special and want == (0, 0):
            assert begin == end == 0
            continue
        first, last = bisect.bisect_right(starts, begin) - 1, bisect.bisect_left(starts, end)
        ours.update(range(first, last))
        if exact:
            assert (first, last) == want, (text, answer, offsets)
        elif not (want[0] <= first and last <= want[1]):
            more, less = set(range(first, last)) - set(range(*want)), set(range(*want)) - set(range(first, last))
            assert not (more - in_cluster) & covered and less <= in_cluster, (text, begin, end, want)
    lost = [i for i in covered - ours if unicodedata.category(text[i]) != "Cc" and i not in in_cluster]
    assert not lost, (text, [text[i] for i in lost])


@pytest.mark.parametrize("kind", K.KINDS)
def test_tokenizer_json(tokenize, texts, tmp_path, parity, kind):
    tokenizer = K.KINDS[kind]()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    answers = tokenize(tmp_path, texts)
    encodings = tokenizer.encode_batch(texts)
    check_ids(answers, [encoding.ids for encoding in encodings], texts, tokenizer.id_to_token)
    assert len({i for encoding in encodings for i in encoding.ids}) > 200, "the texts reach hardly any token"
    # What a rule removes shifts the library's offsets of all that follows.
    removed = [source for source, target in K.nmt_nfkc_rules().items() if not target] if kind in ("t5", "albert") else []
    for text, answer, encoding in zip(texts, answers, encodings):
        if not any(char in text for char in removed):
            check_ranges(text, answer, encoding, kind in EXACT)
        stored = text.encode()
        for (begin, end), shown in zip(answer["ranges"], answer["texts"]):
            assert begin == end or "\ufffd" in shown or stored[begin:end] == shown.encode(), (text, answer)
    parity(kind, tokenizer=True, texts=len(texts))


def test_a_character_that_unicode_has_moved_keeps_the_script_it_has_in_the_library(tokenize, tmp_path):
    tokenizer = K.KINDS["word level by scripts"]()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    beside = ["a", "!", "\u0300", "\u0563", "\u0628", "\u0905", "\u4e00"]  # Latin, Common, Inherited, Armenian, Arabic, Devanagari, Han
    texts = [before + moved + behind for moved in "\u0589\u061c\u0953\u0954" for before in beside for behind in beside]
    expected = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    assert {len(ids) for ids in expected} >= {1, 2, 3}
    check_ids(tokenize(tmp_path, texts), expected, texts, tokenizer.id_to_token)


# ---- other files ----------------------------------------------------------------------------------------------------

def test_vocab_txt(tokenize, texts, tmp_path):
    for lowercase in (True, False):
        tokenizer = K.bert(lowercase=lowercase)
        vocabulary = tokenizer.get_vocab()
        (tmp_path / "vocab.txt").write_text("".join(f"{token}\n" for token in sorted(vocabulary, key=vocabulary.get)))
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lowercase, "tokenizer_class": "BertTokenizer"}))
        check_ids(tokenize(tmp_path, texts), [e.ids for e in tokenizer.encode_batch(texts)], texts, tokenizer.id_to_token)


@pytest.mark.parametrize(("kind", "name"), [("bpe gpt-2", "GPT2TokenizerFast"), ("bpe clip", "CLIPTokenizer")])
def test_vocab_json_and_merges(tokenize, texts, tmp_path, kind, name):
    tokenizer = K.KINDS[kind]()
    data = json.loads(tokenizer.to_str())
    (tmp_path / "vocab.json").write_text(json.dumps(data["model"]["vocab"]))
    (tmp_path / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in data["model"]["merges"]))
    config = {"tokenizer_class": name, "added_tokens_decoder": {str(token.pop("id")): token for token in data["added_tokens"]}}
    if name == "CLIPTokenizer":
        config.update(bos_token="<s>", eos_token="</s>", unk_token={"content": "<unk>"})
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    check_ids(tokenize(tmp_path, texts), [e.ids for e in tokenizer.encode_batch(texts)], texts, tokenizer.id_to_token)


def by_ranks(word, ranks, known):
    """tiktoken's byte-pair encoding: the neighbours that make the token of lowest rank, again and again."""
    if word not in known:
        parts = [bytes([byte]) for byte in word]
        while word not in ranks:
            pairs = [(ranks[a + b], i) for i, (a, b) in enumerate(zip(parts, parts[1:])) if a + b in ranks]
            if not pairs:
                break
            _, i = min(pairs)
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
        known[word] = [ranks[word]] if word in ranks else [ranks[part] for part in parts]
    return known[word]


def test_tiktoken(tokenize, texts, tmp_path):
    """r50k, which is known by its 50,256 tokens: those of a small vocabulary, and others that are no UTF-8."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    mapped = {chr(byte): byte for byte in own} | {chr(256 + i): byte for i, byte in enumerate(b for b in range(256) if b not in own)}
    vocabulary = K.byte_level(K.isolated(GPT2), specials=()).get_vocab()
    tokens = [bytes(mapped[char] for char in token) for token in sorted(vocabulary, key=vocabulary.get)]
    tokens += [b"\xff\xfe%d" % i for i in range(50256 - len(tokens))]
    ranks = {token: rank for rank, token in enumerate(tokens)}
    (tmp_path / "r50k_base.tiktoken").write_bytes(b"".join(base64.b64encode(t) + b" %d\n" % rank for t, rank in ranks.items()))
    known = {}
    split = pre_tokenizers.Split(Regex(GPT2), "isolated")
    texts = [*texts, "a<|endoftext|>b"]
    expected = []
    for text in texts:
        ids = []
        for i, part in enumerate(text.split("<|endoftext|>")):
            ids += [50256] if i else []
            for word, _ in split.pre_tokenize_str(part):
                ids += by_ranks(word.encode(), ranks, known)
        expected.append(ids)
    check_ids(tokenize(tmp_path, texts), expected, texts)


# ---- SentencePiece --------------------------------------------------------------------------------------------------

def field(number, value):
    """A field of a protobuf: bytes, float or a whole number."""
    def varint(n):
        out = b""
        while n > 0x7F:
            out, n = out + bytes([n & 0x7F | 0x80]), n >> 7
        return out + bytes([n])
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(int(value))


def sentencepiece(pieces, kind, normalizer, **trainer):
    """A tokenizer.model: pieces are (text, score, type)."""
    trainer_fields = {"byte_fallback": 35, "treat_whitespace_as_suffix": 24, "bos_id": 41, "eos_id": 42}
    return (b"".join(field(1, field(1, text.encode()) + field(2, float(score)) + field(3, type_)) for text, score, type_ in pieces)
            + field(2, field(3, kind) + b"".join(field(trainer_fields[key], value) for key, value in trainer.items()))
            + field(3, b"".join(field(number, value) for number, value in normalizer.items())))


def sentencepiece_normal(text, rules, prefix=True, extra=True):
    """Normalizer::Normalize of SentencePiece: longest rule first, spaces, the sign for them."""
    longest, parts, at = max(map(len, rules), default=0), [], 0
    while at < len(text):
        size = next((n for n in range(longest, 0, -1) if text[at:at + n] in rules), 0)
        parts.append(rules[text[at:at + size]] if size else text[at])
        at += size or 1
    if extra:
        while parts and parts[0] == " ":
            parts.pop(0)
        if not parts:
            return ""
    out, after_space = "", extra
    for part in parts:
        if after_space:
            part = part.lstrip(" ")
        if part:
            out += part.replace(" ", "▁")
            after_space = extra and part.endswith(" ")
    out = ("▁" if prefix and text else "") + out
    return out.rstrip("▁") if extra else out


def viterbi(text, scores, unknown_score):
    """Unigram in single precision, as EncodeOptimized adds it up; None: an unknown character."""
    best = [(np.float32(0), 0, None)] + [None] * len(text)
    longest = max(map(len, scores))
    for begin in range(len(text)):
        alone = False
        for end in range(begin + 1, min(len(text), begin + longest) + 1):
            piece = text[begin:end]
            if piece in scores:
                total = np.float32(scores[piece]) + best[begin][0]
                if best[end] is None or total > best[end][0]:
                    best[end] = (total, begin, piece)
                alone = alone or end == begin + 1
        if not alone:
            total = np.float32(unknown_score) + best[begin][0]
            if best[begin + 1] is None or total > best[begin + 1][0]:
                best[begin + 1] = (total, begin, None)
    path, end = [], len(text)
    while end:
        path.append((text[best[end][1]:end], best[end][2]))
        end = best[end][1]
    return path[::-1]


def ids_of(path, ids, unknown, byte_fallback):
    out, last_unknown = [], False
    for text, piece in path:
        if piece is not None:
            out.append(ids[piece])
        elif byte_fallback:
            out += [ids[f"<0x{byte:02X}>"] for byte in text.encode()]
        elif not last_unknown:
            out.append(unknown)
        last_unknown = piece is None
    return out


def unigram_pieces():
    data = json.loads(K.unigram(None, pre_tokenizers.Metaspace(prepend_scheme="always"), size=800).to_str())
    special = {"<s>": 3, "</s>": 3, "<unk>": 2, "<mask>": 3}
    return [(text, np.float32(score), special.get(text, 1)) for text, score in data["model"]["vocab"]]


def without(texts, pieces):
    """Texts in which no control token stands, nor NUL, at which SentencePiece's rules end."""
    controls = [text for text, _, kind in pieces if kind in (2, 3)]
    found = [text for text in texts if not any(control in text for control in [*controls, "\0"])]
    assert len(found) > 9000
    return found


@pytest.mark.parametrize("byte_fallback", [False, True])
def test_sentencepiece_unigram(tokenize, texts, tmp_path, byte_fallback):
    pieces = unigram_pieces() + ([(name, 0.0, 6) for name in K.BYTES] if byte_fallback else [])
    rules = K.nmt_nfkc_rules()
    (tmp_path / "tokenizer.model").write_bytes(sentencepiece(pieces, 1, {2: K.charsmap(rules)}, byte_fallback=byte_fallback, bos_id=0, eos_id=1))
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "T5Tokenizer"}')
    ids = {text: i for i, (text, _, _) in enumerate(pieces)}
    scores = {text: score for text, score, kind in pieces if kind == 1}
    texts = without(texts, pieces)
    expected = [ids_of(viterbi(sentencepiece_normal(text, rules), scores, min(scores.values()) - np.float32(10)), ids, ids["<unk>"],
                       byte_fallback) + [ids["</s>"]] for text in texts]
    check_ids(tokenize(tmp_path, texts), expected, texts, lambda i: pieces[i][0])


def test_082_a_damaged_tokenizer_model_is_refused(command, tmp_path):
    pieces = [("<unk>", 0.0, 2), ("a", -1.0, 1), ("<0x-1>", 0.0, 6), ("<0xZZ>", 0.0, 6)]
    content = sentencepiece(pieces, 1, {}, byte_fallback=True, bos_id=-1 & 0xFFFFFFFF)
    model = tmp_path / "tokenizer.model"
    model.write_bytes(content)
    whole = command("tokenize", tmp_path, "--text", "aéa", "--json")
    assert whole.code == 0 and [whole.json["ids"][i] for i in (1, 2, 3)] == [1, 0, 1], whole
    for damaged in (content[:-1], content[:5], content + b"\xff", b"\x0a\xff\xff\xff\xff\x0f" + content, b"\0" * 100):
        model.write_bytes(damaged)
        refused_both_ways(command, 3, ["tokenizer.model"], "tokenize", tmp_path, "--text", "a")


def by_scores(text, scores, ids, unknown, byte_fallback):
    """BPE of SentencePiece: the neighbours that make the piece of best score, the leftmost of equals."""
    parts = list(text)
    while True:
        pairs = [(-scores[a + b], i) for i, (a, b) in enumerate(zip(parts, parts[1:])) if a + b in scores]
        if not pairs:
            return ids_of([(part, part if part in scores else None) for part in parts], ids, unknown, byte_fallback)
        _, i = min(pairs)
        parts[i:i + 2] = [parts[i] + parts[i + 1]]


def bpe_pieces():
    vocabulary = K.bpe(pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="always"), size=1200).get_vocab()
    kinds = {"<unk>": 2, "<s>": 3, "</s>": 3, "<mask>": 4}
    return [(text, -float(i), kinds.get(text, 1)) for i, text in enumerate(sorted(vocabulary, key=vocabulary.get))]


def test_sentencepiece_bpe(tokenize, texts, tmp_path):
    pieces = bpe_pieces() + [(name, 0.0, 6) for name in K.BYTES]
    ids = {text: i for i, (text, _, _) in enumerate(pieces)}
    scores = {text: score for text, score, kind in pieces if kind == 1}
    texts = [text for text in without(texts, pieces) if len(text) < 400]
    for prefix, extra in ((True, True), (False, False)):
        (tmp_path / "tokenizer.model").write_bytes(sentencepiece(pieces, 2, {3: prefix, 4: extra}, byte_fallback=True))
        expected = []
        for text in texts:
            normal = sentencepiece_normal(text, {}, prefix, extra)
            parts = [[by_scores(part, scores, ids, ids["<unk>"], True)] for part in normal.split("<mask>")]
            expected.append([ids["<s>"]] + [i for n, part in enumerate(parts) for i in ([ids["<mask>"]] if n else []) + part[0]])
        check_ids(tokenize(tmp_path, texts), expected, texts, lambda i: pieces[i][0])


def words_of(normal):
    return regex.findall("▁[^▁]*|[^▁]+", normal)


@pytest.mark.parametrize("byte_fallback", [False, True])
@pytest.mark.parametrize("kind", [3, 4], ids=["words", "characters"])
def test_sentencepiece_words_and_characters(tokenize, texts, tmp_path, kind, byte_fallback):
    """Parts that the model cuts without a choice; of unknown ones that follow each other one token."""
    pieces = [piece for piece in unigram_pieces() if kind == 3 or piece[2] != 1 or len(piece[0]) == 1]
    pieces += [("lat", 0.0, 4)] if kind == 4 else []  # what the user defined is never cut
    pieces += [(name, 0.0, 6) for name in K.BYTES] if byte_fallback else []
    rules = K.nmt_nfkc_rules()
    (tmp_path / "tokenizer.model").write_bytes(sentencepiece(pieces, kind, {2: K.charsmap(rules)}, byte_fallback=byte_fallback, bos_id=-1 & 0xFFFFFFFF))
    ids = {text: i for i, (text, _, _) in enumerate(pieces)}
    known = {text for text, _, type_ in pieces if type_ in (1, 4)}
    texts = without(texts, pieces)
    expected = []
    for text in texts:
        normal = sentencepiece_normal(text, rules | ({"lat": "lat"} if kind == 4 else {}))
        parts = words_of(normal) if kind == 3 else regex.findall("lat|.", normal, regex.DOTALL)
        expected.append(ids_of([(part, part if part in known else None) for part in parts], ids, ids["<unk>"], byte_fallback))
    assert sum(ids["<unk>"] in row for row in expected) > 1000 or byte_fallback
    check_ids(tokenize(tmp_path, texts), expected, texts, lambda i: pieces[i][0])


@pytest.mark.parametrize("name", ["XLMRobertaTokenizer", "CamembertTokenizer", ""])
def test_fairseq_ids_of_a_sentencepiece_model(tokenize, texts, tmp_path, name):
    """The vocabulary as transformers' converters of the two build it."""
    pieces = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)] + [piece for piece in unigram_pieces() if piece[2] == 1]
    rules = K.nmt_nfkc_rules()
    (tmp_path / "sentencepiece.bpe.model").write_bytes(sentencepiece(pieces, 1, {2: K.charsmap(rules)}))
    if name:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
    if name == "CamembertTokenizer":
        vocabulary = ["<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"] + [text for text, _, _ in pieces[1:]] + ["<mask>"]
    else:
        vocabulary = ["<s>", "<pad>", "</s>", "<unk>"] + [text for text, _, _ in pieces[3:]] + ["<mask>"]
    ids = {text: i for i, text in enumerate(vocabulary)}
    scores = {text: score for text, score, kind in pieces if kind == 1}
    texts = [text for text in without(texts, pieces) if not any(special in text for special in ("<pad>", "<mask>"))]
    expected = [[ids["<s>"]] + ids_of(viterbi(sentencepiece_normal(text, rules), scores, min(scores.values()) - np.float32(10)), ids, ids["<unk>"],
                                      False) + [ids["</s>"]] for text in texts]
    check_ids(tokenize(tmp_path, texts), expected, texts, vocabulary.__getitem__)
    masked = tokenize(tmp_path, ["a <mask>"])[0]["ids"]
    assert masked[-2] == ids["<mask>"] == len(vocabulary) - 1


def test_fairseq_ids_that_are_not_moved_so(command, tmp_path):
    pieces = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3), ("a", -1.0, 1)]
    model = tmp_path / "sentencepiece.bpe.model"
    model.write_bytes(sentencepiece(pieces, 1, {}))
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "NllbTokenizer"}')
    refused_both_ways(command, 4, ["NllbTokenizer"], "tokenize", tmp_path, "--text", "a")
    (tmp_path / "tokenizer_config.json").unlink()
    for wrong in (pieces[:2], [pieces[0], pieces[3], *pieces[1:3]]):
        model.write_bytes(sentencepiece(wrong, 1, {}))
        refused_both_ways(command, 3, ["first pieces"], "tokenize", tmp_path, "--text", "a")


# ---- GGUF -----------------------------------------------------------------------------------------------------------

def write_gguf(path, model, tokens, types, pre=None, scores=None, merges=None, charsmap=None, **numbers):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(model)
    if pre:
        writer.add_tokenizer_pre(pre)
    writer.add_token_list([token.encode() for token in tokens])
    writer.add_token_types(types)
    if scores is not None:
        writer.add_token_scores([float(score) for score in scores])
    if merges is not None:
        writer.add_token_merges(merges)
    if charsmap is not None:
        writer.add_precompiled_charsmap(charsmap)
    for key, value in numbers.items():
        (writer.add_bool if isinstance(value, bool) else writer.add_uint32)(f"tokenizer.ggml.{key}", value)
    writer.add_tensor("token_embd.weight", np.zeros((1, 32), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_gguf_bert(tokenize, texts, tmp_path):
    tokenizer = K.bert()
    vocabulary = tokenizer.get_vocab()
    names = sorted(vocabulary, key=vocabulary.get)
    specials = {name: 2 if name == "[UNK]" else 3 for name in K.BERT_SPECIALS}
    tokens = [name if name in specials else name[2:] if name.startswith("##") else "▁" + name for name in names]
    write_gguf(tmp_path / "bert.gguf", "bert", tokens, [specials.get(name, 1) for name in names],
               bos_token_id=vocabulary["[CLS]"], seperator_token_id=vocabulary["[SEP]"])
    check_ids(tokenize(tmp_path / "bert.gguf", texts), [e.ids for e in tokenizer.encode_batch(texts)], texts, tokenizer.id_to_token)


def test_gguf_t5(tokenize, texts, tmp_path):
    pieces = unigram_pieces()
    rules = K.nmt_nfkc_rules()
    ids = {text: i for i, (text, _, _) in enumerate(pieces)}
    write_gguf(tmp_path / "t5.gguf", "t5", [text for text, _, _ in pieces], [kind for _, _, kind in pieces],
               scores=[score for _, score, _ in pieces], charsmap=K.charsmap(rules), eos_token_id=ids["</s>"],
               add_space_prefix=True, remove_extra_whitespaces=True)
    scores = {text: score for text, score, kind in pieces if kind == 1}
    texts = without(texts, pieces)
    expected = [ids_of(viterbi(sentencepiece_normal(text, rules), scores, min(scores.values()) - np.float32(10)), ids, ids["<unk>"],
                       False) + [ids["</s>"]] for text in texts]
    check_ids(tokenize(tmp_path / "t5.gguf", texts), expected, texts, lambda i: pieces[i][0])


@pytest.mark.parametrize("extra", [False, True])
def test_gguf_llama(tokenize, texts, tmp_path, extra):
    pieces = [(text, score, 1 if kind == 4 else kind) for text, score, kind in bpe_pieces()] + [(name, 0.0, 6) for name in K.BYTES]
    ids = {text: i for i, (text, _, _) in enumerate(pieces)}
    write_gguf(tmp_path / "llama.gguf", "llama", [text for text, _, _ in pieces], [kind for _, _, kind in pieces],
               scores=[score for _, score, _ in pieces], bos_token_id=ids["<s>"], remove_extra_whitespaces=extra)
    scores = {text: score for text, score, kind in pieces if kind == 1}
    texts = [text for text in without(texts, pieces) if len(text) < 400]
    expected = [[ids["<s>"]] + by_scores(sentencepiece_normal(text, {}, True, extra), scores, ids, ids["<unk>"], True) for text in texts]
    check_ids(tokenize(tmp_path / "llama.gguf", texts), expected, texts, lambda i: pieces[i][0])


# The pre-tokenizers of published checkpoints' tokenizer.json by the name that llama.cpp gives them.
DEEPSEEK3 = [r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+",
             "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
             "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"]
TEKKEN = "|".join([r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
                   r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*", r"\p{N}",
                   r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
PRE = {"gpt-2": [GPT2], "roberta-bpe": [GPT2], "smollm": [r"\p{N}", GPT2], "command-r": [r"\p{N}", GPT2], "llama-bpe": [CL100K],
       "glm4": [CL100K], "stablelm2": [QWEN2], "gpt-4o": [O200K], "llama4": [O200K], "deepseek-v3": DEEPSEEK3, "tekken": [TEKKEN],
       "bloom": [" ?[^(\\s|.,!?…。，、।۔،)]+"]}


@pytest.mark.parametrize("pre", PRE)
def test_gguf_pre_tokenizers(tokenize, texts, tmp_path, pre):
    tokenizer = K.byte_level(*[K.isolated(regex) for regex in PRE[pre]], specials=())
    vocabulary = tokenizer.get_vocab()
    tokens = sorted(vocabulary, key=vocabulary.get)
    data = json.loads(tokenizer.to_str())
    if pre in ("llama-bpe", "tekken"):
        tokenizer = K.changed(tokenizer, ignore_merges=True)
    write_gguf(tmp_path / "m.gguf", "gpt2", tokens, [1] * len(tokens), pre=pre, merges=[" ".join(m) for m in data["model"]["merges"]],
               add_bos_token=False)
    check_ids(tokenize(tmp_path / "m.gguf", texts), [e.ids for e in tokenizer.encode_batch(texts)], texts, tokenizer.id_to_token)


# ---- the command ----------------------------------------------------------------------------------------------------

def test_the_command_prints_tokens(command, tmp_path):
    tokenizer = K.bert()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    text = "Café attention\x1b[31m"
    machine = command("tokenize", tmp_path, "--text", text, "--json")
    assert machine.code == 0 and machine.err == b"", machine
    assert machine.json["ids"] == tokenizer.encode(text).ids
    assert machine.json["texts"][:2] == ["[CLS]", "Caf"] or machine.json["texts"][0] == "[CLS]"
    assert machine.json["special"][0] == machine.json["special"][-1] == 1
    assert machine.json["tokenizer"] == "tokenizer.json: WordPiece, 2000 tokens"
    plain = command("tokenize", tmp_path, "--text-file", "-", stdin=text.encode())
    assert plain.code == 0, plain
    lines = plain.text.splitlines()
    assert len(lines) == len(machine.json["ids"]) + 2 and all(len(line) <= 80 for line in lines), plain
    assert "\x1b" not in plain.text
    assert [int(line.split()[1]) for line in lines[1:-1]] == machine.json["ids"]
    never = command("tokenize", tmp_path, "--text", text, "--json", "--bos", "never")
    assert never.json["ids"] == machine.json["ids"][1:]
    bad = tmp_path / "bad.jsonl"
    bad.write_text('"a"\n{}\n')
    outcome = command("tokenize", tmp_path, "--json-lines", bad)
    assert outcome.code == 3 and b"line 2 is not a JSON string" in outcome.err, outcome
    empty = tmp_path / "empty"
    empty.mkdir()
    assert command("tokenize", empty, "--text", "a").code in (3, 5)
