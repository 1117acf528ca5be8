"""Tiny random encoder-decoders and what transformers' own code makes of them in float64: the streams between all layers, logits, and the
attention weights of every call."""
import copy
import json

import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM

import captures  # noqa: F401  (puts the package headroom on the path)
import checkpoints as C
import families
import headroom

BART = {"vocab_size": 53, "d_model": 32, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "encoder_ffn_dim": 40, "decoder_ffn_dim": 48, "max_position_embeddings": 64, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2,
        "decoder_start_token_id": 2, "activation_function": "gelu", "is_encoder_decoder": True}


T5 = {"vocab_size": 53, "d_model": 32, "d_kv": 6, "d_ff": 40, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 4, "dropout_rate": 0.1,
      "relative_attention_num_buckets": 12, "relative_attention_max_distance": 17, "layer_norm_epsilon": 1e-6, "feed_forward_proj": "relu",
      "is_encoder_decoder": True, "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}


def case(name, **config):
    merged = {**(T5 if "t5" in name else BART), "model_type": name.split()[0], **config}
    return families.Case(name, {k: v for k, v in merged.items() if v != "absent"})


CASES = [
    case("bart"),
    case("bart scaled, other heads, not tied", scale_embedding=True, encoder_attention_heads=2, decoder_attention_heads=8, decoder_layers=1,
         activation_function="gelu_new", tie_word_embeddings=False, decoder_start_token_id=0),
    case("mbart", decoder_start_token_id="absent", scale_embedding=True),
    case("t5"),
    case("t5 1.1, start of its own", feed_forward_proj="gated-gelu", tie_word_embeddings=False, num_decoder_layers="absent",
         decoder_start_token_id=4, relative_attention_max_distance=40),
    case("mt5", feed_forward_proj="absent", tie_word_embeddings=False, relative_attention_num_buckets=8),
    case("mt5 plain, silu", feed_forward_proj="gated-silu", num_layers=1),
    case("mbart not tied", encoder_layers=1, decoder_layers=2, activation_function="relu", tie_word_embeddings=False),
]


def model_of(case):
    settings = AutoConfig.for_model(case.model_type, **{k: v for k, v in copy.deepcopy(case.config).items() if k != "model_type"})
    settings._attn_implementation = "eager"
    return AutoModelForSeq2SeqLM.from_config(settings).to(torch.float64).eval()


def write(folder, case, seed):
    """The checkpoint as published; returns the values in float64 by transformers' names."""
    with C.transformers_in_float64():
        net = model_of(case)
    # Published T5s say that they are not tied, which transformers takes back, and hold lm_head.
    own_head = case.model_type.endswith("t5") and case.config.get("tie_word_embeddings") is False
    tied = families.tied_names(net)
    state = {name: t for name, t in net.state_dict().items() if name not in tied or own_head and name == "lm_head.weight"}
    weights = {name: t.float() for name, t in C.scaled_weights(state, seed).items()}
    C.save(folder, case.config, weights)
    return {name: t.double() for name, t in weights.items()}


def stacks(net):
    """Layers of the encoder, layers of the decoder, and for each of these what is given the stream between its two attentions."""
    if hasattr(net, "model"):
        decoder = net.model.decoder.layers
        return net.model.encoder.layers, decoder, [
            layer.encoder_attn_layer_norm if hasattr(net.model.decoder, "layer_norm") else layer.encoder_attn for layer in decoder]
    decoder = net.decoder.block
    return net.encoder.block, decoder, [layer.layer[1] for layer in decoder]


def run(case, weights, source, target, capture):
    """(residual of every boundary, logits, weights of every call [heads, rows, keys]); the calls are recorded in the file `capture`."""
    import importlib

    with C.transformers_in_float64():
        modeling = importlib.import_module(type(model_of(case)).__module__)
    with C.transformers_in_float64(modeling), torch.no_grad():
        net = model_of(case)
        tied = families.tied_names(net)
        shared = {name: t for name, t in weights.items() if name not in tied}  # one matrix until it is told apart
        missing, unexpected = net.load_state_dict(shared, strict=False)
        assert not unexpected and set(missing) <= tied, (missing, unexpected)
        net.tie_weights()
        if "lm_head.weight" in weights:
            net.lm_head.weight = torch.nn.Parameter(weights["lm_head.weight"])
        encoder, decoder, middle = stacks(net)
        residual, between = C.kept_residual(encoder), []
        behind = C.kept_residual(decoder)
        for module in middle:
            module.register_forward_pre_hook(lambda _, args: between.append(args[0][0]))
        with headroom.capture(capture):
            given = {"decoder_input_ids": torch.tensor([target])} if target is not None else {}
            out = net(input_ids=torch.tensor([source]), **given, use_cache=False, output_attentions=True)
        if target is None:
            given = out.logits.shape[1]
        residual += behind[:1]
        for inside, after in zip(between, behind[1:]):
            residual += [inside, after]
        maps = [a[0] for a in out.encoder_attentions]
        for own, cross in zip(out.decoder_attentions, out.cross_attentions):
            maps += [own[0], cross[0]]
    return residual, out.logits[0], maps


def names(case):
    encoder = case.config.get("encoder_layers") or case.config["num_layers"]
    decoder = case.config.get("decoder_layers") or case.config.get("num_decoder_layers") or encoder
    return [f"encoder {i}" for i in range(encoder)] + [f"decoder {i} {part}" for i in range(decoder) for part in ("self", "cross")]
