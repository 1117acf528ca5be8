"""An encoder-decoder in the window: two prompts, layers by their names, cross maps with two token axes, what-ifs."""
import string

import numpy as np
import pytest
import tokenizers

import encoder_decoders
import window as W

SOURCE, TARGET = [5, 6, 7, 8, 9, 10, 11, 12], [2, 9, 8, 7, 6]


@pytest.fixture(scope="module")
def window(program, display, tmp_path_factory):
    return W.Window(program, display, tmp_path_factory.mktemp("encoder_decoders"))


@pytest.fixture(scope="module")
def maps(window):
    """Transformers' own weights of every call."""
    bart = encoder_decoders.CASES[0]
    weights = encoder_decoders.write(window.made / "bart", bart, 3)
    return encoder_decoders.run(bart, weights, SOURCE, TARGET, window.made / "calls.safetensors")[2]


def opened(*ids):
    lines = ["open build/window/made/bart", "wait"]
    return "\n".join([*lines, *ids, "run", "wait", "expect run.status == done", "expect run.layers == 8"]) + "\n"


def words(name, ids):
    return name + " " + " ".join(map(str, ids))


def test_two_prompts_and_the_maps_of_both_stacks(window, maps):
    given = opened(words("ids", SOURCE), words("target-ids", TARGET))
    for layer, name, query, key in ((1, "encoder 1", 7, 5), (2, "decoder 0 self", 4, 3), (3, "decoder 0 cross", 4, 7)):
        outcome = window.run(given + f"select L{layer}.H1\nwait\npin {query} {key}\nwait\nexpect map.state == map\n"
                                     "screenshot build/window/layer.png\nexpect errors == 0\nquit\n")
        heads, rows, keys = maps[layer].shape
        assert outcome.facts["map.call"] == name
        assert (float(outcome.facts["map.rows"]), float(outcome.facts["map.keys"])) == (rows, keys)
        np.testing.assert_allclose(outcome.number("map.cell"), maps[layer][1, query, key].item(), rtol=1e-4)


def test_what_ifs_of_an_encoder_and_of_a_decoder(window, maps):
    given = opened(words("ids", SOURCE), words("target-ids", TARGET))
    window.run(given + "select L0.H1\nwait\nwhat-if temperature=2\nwait\nexpect errors == 0\nquit\n")
    window.run(given + "select L5.H2\nwait\nwhat-if temperature=2\nwait\nexpect errors == 0\nheads table\nwait\nheads atlas\nwait\nquit\n")


def test_without_a_target_the_decoder_predicts_the_prompt(window, maps):
    outcome = window.run(opened(words("ids", SOURCE)) + "select L2.H0\nwait\npin 7 0\nwait\nexpect map.state == map\nprompt.edit\nwait\n"
                         "screenshot build/window/prompts.png\nexpect errors == 0\nquit\n")
    assert float(outcome.facts["map.rows"]) == len(SOURCE)


def test_both_prompts_as_texts(window):
    """The decoder reads the target behind its start token, so that it predicts the target."""
    bart, folder = encoder_decoders.CASES[0], window.made / "bart"
    weights = encoder_decoders.write(folder, bart, 3)
    letters = tokenizers.Tokenizer(tokenizers.models.BPE({letter: 3 + i for i, letter in enumerate(string.ascii_lowercase)}, []))
    letters.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    letters.save(str(folder / "tokenizer.json"))
    source, target = (letters.encode(text).ids for text in ("attention", "diffuse"))
    maps = encoder_decoders.run(bart, weights, source, [bart.config["decoder_start_token_id"], *target[:-1]], window.made / "texts.safetensors")[2]
    outcome = window.run(opened("prompt attention", "target diffuse") + "select L5.H1\nwait\npin 4 7\nwait\nexpect map.call == \"decoder 1 cross\"\n"
                         "expect map.state == map\nscreenshot build/window/texts.png\nexpect errors == 0\nquit\n")
    assert (float(outcome.facts["map.rows"]), float(outcome.facts["map.keys"])) == (len(target), len(source))
    np.testing.assert_allclose(outcome.number("map.cell"), maps[5][1, 4, 7].item(), rtol=1e-4)
