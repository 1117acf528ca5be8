"""Random numbers and batches of the tasks that models are trained on, from their description alone (core/training/random_stream.h,
assets/recipes/README.md#tasks). Run as a script it prints the numbers of tests/core/training/random_stream_test.cpp."""
import json
import math

import numpy as np

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(z):
    """The output function of SplitMix64 (Steele, Lea, Flood 2014)."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


class RandomStream:
    def __init__(self, seed, stream, index=0):
        self.state = mix(seed + GOLDEN & MASK) ^ mix(fnv1a(stream)) ^ mix(index + 2 * GOLDEN & MASK)
        self.state = mix(self.state)

    def next(self):
        self.state = self.state + GOLDEN & MASK
        return mix(self.state)

    def uniform(self):
        return (self.next() >> 11) / 2**53

    def normal(self):
        radius = math.sqrt(-2 * math.log(1 - self.uniform()))
        return radius * math.cos(2 * math.pi * self.uniform())

    def below(self, end):
        return int(self.uniform() * end)


def stream_of(name, split, seed, index):
    """Validation batches are the same for every seed."""
    return RandomStream(seed, name, index) if split == "training" else RandomStream(0, name + " validation", index)


class Trigger:
    """Tokens: 0 BOS, 1 … contents, the same ones as triggers. Embedding: flags of BOS, trigger and content, then features."""

    def __init__(self, settings):
        self.bos, self.contents, self.features = settings.get("bos", True), settings["contents"], settings["features"]
        self.length, self.vocab_size = settings["length"], 1 + 2 * settings["contents"]
        square = self.features / 3  # of U(−1, 1)
        self.embedding = np.zeros((self.vocab_size, 3 + self.features))
        self.embedding[0, 0] = math.sqrt(square + 1)
        for content in range(self.contents):
            random = RandomStream(0, "trigger embedding", content)
            x = np.array([2 * random.uniform() - 1 for _ in range(self.features)])
            x *= math.sqrt(square / (x @ x))
            for trigger in (0, 1):
                self.embedding[1 + content + trigger * self.contents] = np.concatenate([[0, trigger, 1 - trigger], x])

    def batch(self, split, seed, index, sequences):
        """(ids [sequences, length], what the blocks shall add [sequences, length, width])."""
        random = stream_of("trigger", split, seed, index)
        first = int(self.bos)
        ids = np.zeros((sequences, self.length), dtype=np.int64)
        targets = np.zeros((sequences, self.length, 3 + self.features))
        for s in range(sequences):
            at = first + random.below(self.length - first)
            for i in range(first, self.length):
                ids[s, i] = 1 + random.below(self.contents) + (self.contents if i == at else 0)
            targets[s, at, 3:] = self.embedding[ids[s, first : at + 1], 3:].mean(axis=0)
        return ids, targets


class Backcopy:
    """Tokens: 0 BOS, 1 + s the symbol s. After a trigger the symbol before it; else a draw from the text's pairs."""

    def __init__(self, settings, text):
        text = text.lower()
        assert text.isascii()
        counts = {c: text.count(c) for c in sorted(set(text))}
        self.symbols = sorted(counts, key=lambda c: (-counts[c], c))[: settings["symbols"]]
        self.length, self.vocab_size = settings["length"], 1 + len(self.symbols)
        self.trigger = np.array([c in settings["triggers"] for c in self.symbols])
        index = {c: i for i, c in enumerate(self.symbols)}
        n = len(self.symbols)
        pairs = np.zeros((n, n))
        for a, b in zip(text, text[1:]):
            if a in index and b in index:
                pairs[index[a], index[b]] += 1
        self.pairs = pairs
        first = np.array([counts[c] for c in self.symbols]) * ~self.trigger
        self.cumulative = np.cumsum(np.vstack([pairs, first]), axis=1)

    def batch(self, split, seed, index, sequences):
        """(ids, targets), both [sequences, length]."""
        random = stream_of("backcopy", split, seed, index)

        def draw(row):
            return int(np.searchsorted(self.cumulative[row], random.uniform() * self.cumulative[row, -1], side="right"))

        chains = []
        for _ in range(sequences):
            chain = [draw(-1)]
            while len(chain) < self.length:
                chain.append(chain[-2] if self.trigger[chain[-1]] else draw(chain[-1]))
            chains.append(1 + np.array(chain))
        targets = np.stack(chains)
        return np.concatenate([np.zeros((sequences, 1), dtype=np.int64), targets[:, :-1]], axis=1), targets


class Bytes:
    """Windows of the text behind BOS 256; the last validation_share of the text is for validation."""

    def __init__(self, settings, text):
        self.text = np.frombuffer(text.encode(), dtype=np.uint8).astype(np.int64)
        self.length, self.vocab_size = settings["length"], 257
        self.trained = int(len(self.text) * (1 - settings.get("validation_share", 0.1)))

    def batch(self, split, seed, index, sequences):
        random = stream_of("bytes", split, seed, index)
        part = self.text[: self.trained] if split == "training" else self.text[self.trained :]
        begins = [random.below(len(part) - self.length + 1) for _ in range(sequences)]
        targets = np.stack([part[at : at + self.length] for at in begins])
        return np.concatenate([np.full((sequences, 1), 256), targets[:, :-1]], axis=1), targets


CITIES = ("Amsterdam Athens Bangkok Barcelona Berlin Boston Cairo Chicago Dublin Geneva Helsinki Istanbul Jakarta Lisbon London Madrid "
          "Moscow Mumbai Oslo Paris Prague Seoul Tokyo Vienna").split()


class Needle:
    """Numbers of cities between windows of the text, and questions for as many as fit; only the numbers behind questions are asked for.
    Tokens are bytes, BOS 256, and what the sentences say, the longest at each place."""
    WORDS = ["\nThe special magic number for", "\nQuestion: What is the special magic number for", "?\nAnswer: The special magic number for",
             *(f" {city}{verb}" for city in CITIES for verb in ("", " is")), *(f" {digit}" for digit in range(10))]
    LEAST_TEXT, NOTHING_ASKED = 16, -100

    def __init__(self, settings, text):
        self.length, self.needles, self.digits = settings["length"], settings["needles"], settings.get("digits", 7)
        self.vocab_size = 257 + len(self.WORDS)
        self.text = self.encode(text)
        self.trained = int(len(self.text) * (1 - settings.get("validation_share", 0.1)))

    def encode(self, text):
        words = sorted(self.WORDS, key=len, reverse=True)
        ids = []
        while text:
            word = next((word for word in words if text.startswith(word)), None)
            ids.append(ord(text[0]) if word is None else 257 + self.WORDS.index(word))
            text = text[len(word or " ") :]
        return ids

    def batch(self, split, seed, index, sequences):
        random = stream_of("needle", split, seed, index)
        part = self.text[: self.trained] if split == "training" else self.text[self.trained :]

        def drawn(count, all):
            order = list(range(all))
            for k in range(count):
                j = k + random.below(all - k)
                order[k], order[j] = order[j], order[k]
            return order[:count]

        rows = []
        for _ in range(sequences):
            needles = 1 + random.below(self.needles)
            cities = [CITIES[c] for c in drawn(needles, len(CITIES))]
            least = 10 ** (self.digits - 1)
            numbers = [f" {least + random.below(9 * least)}" for _ in range(needles)]
            sentences = [self.encode(f"\nThe special magic number for {city} is{number}.\n") for city, number in zip(cities, numbers)]
            asked = [self.encode(f"\nQuestion: What is the special magic number for {city}?\nAnswer: The special magic number for {city} is")
                     for city in cities]
            room = self.length - sum(map(len, sentences))
            of_question = len(asked[0]) + self.digits
            questions = min(needles, (room - self.LEAST_TEXT) // of_question)
            order = drawn(questions, needles)
            filler = room - questions * of_question
            begin = random.below(len(part) - filler + 1)
            places = [random.below(filler + 1) for _ in range(needles)]
            ids, written = [256], 0
            for k in sorted(range(needles), key=lambda k: places[k]):
                ids += part[begin + written : begin + places[k]] + sentences[k]
                written = places[k]
            ids += part[begin + written : begin + filler]
            answers = [False] * len(ids)
            for k in order:
                ids += asked[k] + self.encode(numbers[k])
                answers += [False] * len(asked[k]) + [True] * self.digits
            assert len(ids) == self.length + 1
            rows.append((ids[:-1], [id if answer else self.NOTHING_ASKED for id, answer in zip(ids[1:], answers[1:])]))
        return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


def task_of(recipe, folder):
    settings = recipe["task"]
    if settings["kind"] == "trigger":
        return Trigger(settings)
    text = (folder / settings["text"]).read_text()
    return {"bigram_backcopy": Backcopy, "bytes": Bytes, "needle": Needle}[settings["kind"]](settings, text)


if __name__ == "__main__":
    for seed, name, index in ((0, "", 0), (1, "trigger", 0), (1, "trigger", 1), (2**64 - 1, "model.layers.0.self_attn.λ", 12345678901)):
        random = RandomStream(seed, name, index)
        print(f'{{{seed}u, {json.dumps(name, ensure_ascii=False)}, {index},')
        print(" {" + ", ".join(f"0x{random.next():016X}" for _ in range(4)) + "},")
        print(f" {random.uniform().hex()}, {random.normal()!r}, {random.below(1000)}}},")
