"""Small tokenizers of every kind, trained by the `tokenizers` library on text of the tree, and hostile texts for them."""
import json
import pathlib
import random
import struct
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from make_tokenizer_fixtures import CL100K, GPT2, NASTY, O200K, TRAINING

ROOT = pathlib.Path(__file__).resolve().parents[2]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def training_text():
    """Of texts that nobody edits, so that vocabularies and hostile texts are the same in every version of the project."""
    lines = list(TRAINING)
    for name in ("prompts/demo.txt", "prompts/gpl-3.txt", "corpora/kjv.txt"):
        lines += (ROOT / "assets" / name).read_text(encoding="utf-8").splitlines()[:800]
    return lines


# ---- a charsmap, as SentencePiece compiles it -----------------------------------------------------------------------

def charsmap(rules):
    """{from: to} → the bytes of a precompiled_charsmap: a double array in the units of darts-clone, and the strings."""
    strings, offsets = b"", {}
    for target in rules.values():
        if target not in offsets:
            offsets[target] = len(strings)
            strings += target.encode() + b"\0"
    tree = {}
    for source, target in rules.items():
        node = tree
        for byte in source.encode():
            node = node.setdefault(byte, {})
        node[None] = offsets[target]
    units, used, bases = {0: 0}, {0}, {0}

    def place(node, at):
        labels = [0 if label is None else label for label in node]
        base = at + 1
        # The children stand at base ^ label. No two nodes have one base, so that a label tells whose child it is; offsets
        # below 2^21 fit a unit as they are.
        while base in bases or any((base ^ label) in used for label in labels):
            base += 1
        bases.add(base)
        assert at ^ base < 1 << 21
        units[at] |= (at ^ base) << 10 | (1 << 8 if None in node else 0)
        used.update(base ^ label for label in labels)
        for label, child in node.items():
            if label is None:
                units[base] = 1 << 31 | child
            else:
                units[base ^ label] = label
        for label, child in node.items():
            if label is not None:
                place(child, base ^ label)

    place(tree, 0)
    size = max(units) + 256  # lookups at base ^ byte stay inside
    trie = b"".join(struct.pack("<I", units.get(i, 0)) for i in range(size))
    return struct.pack("<I", len(trie)) + trie + strings


def nmt_nfkc_rules():
    """Rules like those of SentencePiece's nmt_nfkc, as far as one character goes, and some of several."""
    rules = {chr(c): " " for c in (0x09, 0x0A, 0x0C, 0x0D, 0xA0, 0x1680, 0x2028, 0x2029, 0x200B, 0x200E, 0x3000, 0xFEFF)}
    rules.update({chr(c): "" for c in [*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F]})
    for c in [*range(0xA8, 0x250), *range(0x1E00, 0x2000), *range(0x2100, 0x2190), *range(0x2460, 0x24FF), *range(0xFB00, 0xFB07),
              *range(0xFF01, 0xFFA0)]:
        folded = unicodedata.normalize("NFKC", chr(c))
        if folded != chr(c):
            rules[chr(c)] = folded
    for base in "aeiouAEIOUcn":
        for mark in "\u0300\u0301\u0302\u0303\u0308\u0327":
            composed = unicodedata.normalize("NFKC", base + mark)
            if len(composed) == 1:
                rules[base + mark] = composed
    return rules


# ---- texts ----------------------------------------------------------------------------------------------------------

def stable_characters():
    """Characters whose category never changed since Unicode 3.2, so that every library agrees, by category."""
    old = unicodedata.ucd_3_2_0
    groups = {}
    for c in range(0x110000):
        char = chr(c)
        category = old.category(char)
        if category == unicodedata.category(char) and category not in ("Cn", "Cs", "Co"):
            groups.setdefault(category, []).append(char)
    return groups


PIECES = [
    "the", "The", "attention", "ATTENTION", "heads", "un", "ing", " ", "  ", "\n", "\r\n", "\t", ".", ",", "!", "?", "...", "'s", "don't",
    "it’s", "1", "42", "1234567", "3.14", "½", "²", "٣", "Ⅷ", "①", "é", "e\u0301", "ê\u0323", "\u0301", "\u0308\u0301", "ß", "İ", "ı", "ǅ", "Σ", "ς",
    "ﬁ", "ﬃ", "Ａ", "ｶﾞ", "中", "文字", "日本語", "ひらがな", "カタカナー", "한국어", "\u1100\u1161\u11a8", "각", "שָׁלוֹם", "مرحبا", "नमस्ते", "ไทย",
    "Ελληνικά", "Быстрая", "😀", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪", "❤️", "1️⃣", "🏴", "\u200b", "\u200d", "\u200e", "\ufeff", "\u00a0", "\u3000", "\u2028", "\u0085",
    "\x00", "\x01", "\x1f", "\x7f", "\u00ad", "\ufffd", "▁", "▁the", "##ing", "Ġ", "</w>", "<unk>", "[UNK]", "[MASK]", "[CLS]", "<s>", "<mask>",
    "<0x41>", "_", "__init__", "-", "--", "$", "+", "=", "^", "`", "|", "~", "(", ")", "[", "]", "{", "}", "\\", "/", "@", "#", "&", "%", "*", "→", "∑",
    "€", "£", "©", "𝒜", "𠀀", "𐍈", "naïve", "Straße", "ÀÉÎ", "x²", "C++", "foo_bar", "http://a.b/c?d=e", "user@example.org",
]


def hostile_texts(seed, count=10000):
    """Random Unicode, combinations of awkward pieces, runs and very long words; the texts of the fixtures come first."""
    chance = random.Random(seed)
    groups = stable_characters()
    categories = sorted(groups)
    words = [word for line in training_text() for word in line.split()]
    texts = list(NASTY)
    while len(texts) < count:
        kind = chance.random()
        if kind < 0.4:
            text = "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 12)))
        elif kind < 0.6:
            text = "".join(chance.choice(groups[chance.choice(categories)]) for _ in range(chance.randint(1, 24)))
        elif kind < 0.8:
            text = " ".join(chance.choice(words) for _ in range(chance.randint(1, 12)))
            if chance.random() < 0.5:
                at = chance.randint(0, len(text))
                text = text[:at] + chance.choice(PIECES) + text[at:]
        elif kind < 0.9:
            text = chance.choice(PIECES) * chance.randint(1, 40) + chance.choice(words)
        elif kind < 0.99:
            text = "".join(chance.choice(PIECES) + chance.choice(groups[chance.choice(categories)])
                           for _ in range(chance.randint(1, 12)))
        else:  # a very long word
            text = "".join(chance.choice("abcdeéß中1") for _ in range(chance.choice((99, 100, 101, 250, 3000))))
        texts.append(text)
    return texts


# ---- tokenizers -----------------------------------------------------------------------------------------------------

def trained(model, trainer, pre_tokenizer=None, normalizer=None, post_processor=None, decoder=None):
    tokenizer = Tokenizer(model)
    for name, part in (("normalizer", normalizer), ("pre_tokenizer", pre_tokenizer), ("decoder", decoder)):
        if part is not None:
            setattr(tokenizer, name, part)
    tokenizer.train_from_iterator(training_text(), trainer)
    if post_processor is not None:
        tokenizer.post_processor = post_processor(tokenizer)
    return tokenizer


def changed(tokenizer, **members):
    """The same tokenizer.json with other members of its model; a tuple of tokens as `vocab` is added to it."""
    data = json.loads(tokenizer.to_str())
    for token in members.pop("vocab", ()):
        if isinstance(data["model"]["vocab"], list):
            if token not in [pair[0] for pair in data["model"]["vocab"]]:
                data["model"]["vocab"].append([token, -20.0])
        else:
            data["model"]["vocab"].setdefault(token, max(data["model"]["vocab"].values()) + 1)
    data["model"].update(members)
    return Tokenizer.from_str(json.dumps(data))


BERT_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def bert(**normalization):
    def post(tokenizer):
        return processors.BertProcessing(*(((name, tokenizer.token_to_id(name))) for name in ("[SEP]", "[CLS]")))
    return trained(models.WordPiece(unk_token="[UNK]"),
                   trainers.WordPieceTrainer(vocab_size=2000, special_tokens=BERT_SPECIALS, show_progress=False),
                   pre_tokenizers.BertPreTokenizer(), normalizers.BertNormalizer(**normalization), post, decoders.WordPiece())


def wordpiece_short():
    tokenizer = bert(lowercase=True, strip_accents=False, handle_chinese_chars=False)
    return changed(tokenizer, max_input_chars_per_word=12)


def unigram(normalizer, pre_tokenizer, size=1200, **members):
    tokenizer = trained(models.Unigram(), trainers.UnigramTrainer(
        vocab_size=size, special_tokens=["<s>", "</s>", "<unk>", "<mask>"], unk_token="<unk>", show_progress=False), pre_tokenizer,
        normalizer, lambda t: processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", t.token_to_id("</s>"))]))
    return changed(tokenizer, **members)


def t5():
    return unigram(normalizers.Sequence([normalizers.Precompiled(charsmap(nmt_nfkc_rules())), normalizers.Strip(left=False, right=True),
                                         normalizers.Replace(Regex(" {2,}"), "▁")]),
                   pre_tokenizers.Metaspace(prepend_scheme="always"))


def albert():
    return unigram(normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(),
                                         normalizers.StripAccents(), normalizers.Lowercase(),
                                         normalizers.Precompiled(charsmap(nmt_nfkc_rules()))]),
                   pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]))


def unigram_bytes():
    return unigram(normalizers.Nmt(), pre_tokenizers.Metaspace(prepend_scheme="first", split=False), size=900, vocab=tuple(BYTES),
                   byte_fallback=True)


def bpe(size=1500, specials=("<unk>", "<s>", "</s>", "<mask>"), trainer=None, alphabet=(), pre_tokenizer=None, normalizer=None,
        post_processor=None, **model):
    return trained(models.BPE(**model),
                   trainers.BpeTrainer(vocab_size=size, special_tokens=list(specials), show_progress=False,
                                       initial_alphabet=list(alphabet), **(trainer or {})),
                   pre_tokenizer, normalizer, post_processor)


def byte_level(*splits, **options):
    return bpe(alphabet=pre_tokenizers.ByteLevel.alphabet(), pre_tokenizer=pre_tokenizers.Sequence(
        [*splits, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]), **options)


def isolated(regex):
    return pre_tokenizers.Split(Regex(regex), "isolated")


def clip():
    def post(tokenizer):
        return processors.RobertaProcessing(("</s>", tokenizer.token_to_id("</s>")), ("<s>", tokenizer.token_to_id("<s>")),
                                            trim_offsets=False, add_prefix_space=False)
    split = pre_tokenizers.Split(Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", invert=True)
    return byte_level(split, normalizer=normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]), post_processor=post,
        trainer={"end_of_word_suffix": "</w>"}, end_of_word_suffix="</w>", unk_token="<unk>")


def llama():
    tokenizer = bpe(pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="always"), unk_token="<unk>")
    tokenizer = changed(tokenizer, vocab=tuple(BYTES), byte_fallback=True, fuse_unk=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    return tokenizer


def word_level(pre_tokenizer, normalizer=None):
    return trained(models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(
        vocab_size=3000, special_tokens=["<unk>", "<mask>"], show_progress=False), pre_tokenizer, normalizer)


def with_added(tokenizer):
    tokenizer.add_special_tokens([AddedToken("[MASK]", lstrip=True, normalized=False, special=True)])
    tokenizer.add_tokens([AddedToken("naïve", normalized=True, single_word=True), AddedToken("the", normalized=False, single_word=True),
                          AddedToken("Straße", normalized=True, rstrip=True)])
    return tokenizer


KINDS = {
    "bert uncased": lambda: bert(),
    "bert cased": lambda: bert(lowercase=False),
    "bert without cleaning": lambda: bert(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False),
    "bert with added tokens": lambda: with_added(bert()),
    "wordpiece of short words": wordpiece_short,
    "t5": t5,
    "albert": albert,
    "unigram with bytes": unigram_bytes,
    "bpe llama": llama,
    "bpe gpt-2": lambda: byte_level(isolated(GPT2)),
    "bpe cl100k nfkc": lambda: byte_level(isolated(CL100K), normalizer=normalizers.NFKC()),
    "bpe o200k digits": lambda: byte_level(pre_tokenizers.Digits(True), isolated(O200K)),
    "bpe clip": clip,
    "bpe openai-gpt": lambda: bpe(trainer={"end_of_word_suffix": "</w>"}, end_of_word_suffix="</w>", unk_token="<unk>",
                                  normalizer=normalizers.BertNormalizer(), pre_tokenizer=pre_tokenizers.BertPreTokenizer()),
    "bpe with continuing prefix": lambda: bpe(trainer={"continuing_subword_prefix": "##"}, continuing_subword_prefix="##",
                                              unk_token="<unk>", fuse_unk=True, pre_tokenizer=pre_tokenizers.Whitespace()),
    "bpe with byte-level normalizer": lambda: bpe(normalizer=normalizers.ByteLevel(), alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                                  pre_tokenizer=isolated("Ġ+|[^Ġ]+")),
    "word level by scripts": lambda: word_level(pre_tokenizers.Sequence([pre_tokenizers.UnicodeScripts(), pre_tokenizers.Whitespace()]),
                                                normalizers.Sequence([normalizers.Nmt(), normalizers.Strip()])),
    "word level by punctuation": lambda: word_level(pre_tokenizers.Sequence(
        [pre_tokenizers.CharDelimiterSplit(" "), pre_tokenizers.Punctuation("merged_with_previous"), pre_tokenizers.Digits(False)]),
        normalizers.Lowercase()),
    "bpe by scripts": lambda: bpe(unk_token="<unk>", normalizer=normalizers.NFD(), pre_tokenizer=pre_tokenizers.UnicodeScripts()),
    "bpe of fixed length": lambda: bpe(unk_token="<unk>", normalizer=normalizers.NFKD(), pre_tokenizer=pre_tokenizers.FixedLength(5)),
    "word level after byte level": lambda: word_level(pre_tokenizers.Sequence(
        [pre_tokenizers.ByteLevel(add_prefix_space=True), pre_tokenizers.Split("Ġ", "merged_with_next")])),
}
