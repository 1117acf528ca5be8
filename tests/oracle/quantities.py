"""Every dataset of a run file (core/measure/QUANTITIES.md) from dense maps. One function per group; names are the file's.

Absent values are NaN, in integer datasets −1. Rows are 0-based; n_i is the number of keys row i sees.
"""
import math

import numpy as np
import torch

from definitions import farthest_from_0

QUANTILES = [0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1]
BOUNDS = ["softmax", "diff_v2", "variant"]
TOP_K = [1, 2, 4, 8, 16]
ROUNDS_TO_ONE = 0.001955034835803351  # −ln(1 − 2^−9)
BORDER = 2e-5  # relative distance from a bound at which rounding decides the side
LOGIT_ERROR = {"float64": 1e-9, "float32": 2e-4}  # how far logits may be off before a threshold count may differ
NAN = math.nan


def kurtosis_of_rows(x):
    """Pearson's, by its moments about the mean; NaN for a row of equal numbers."""
    centred = x - x.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (centred ** 4).mean(axis=1) / (centred ** 2).mean(axis=1) ** 2


def mean(x):
    return x.mean().item() if x.numel() else NAN


def quantiles(x):
    return np.quantile(x.numpy(), QUANTILES, method="linear")


def rms(x):
    return torch.sqrt((x * x).mean(dim=-1))


class RowStatistics:
    """Statistics of one head per row, from its dense maps."""

    def __init__(self, head):
        self.head, self.visible = head, head.visible
        self.n = head.w.shape[0]
        self.n_i = head.visible.sum(dim=1)
        self.seen = head.visible.clone()  # what counts for the mean a key receives: nothing, if it is hidden
        self.seen[:, head.hidden] = False
        w, lam = head.w, head.lam
        self.first_map = head.maps[0]
        self.values = self.first_map.values
        self.r = rms(self.values)  # r_j
        self.weight_sum = w.sum(dim=1)
        self.weight_l1 = w.abs().sum(dim=1)
        self.weight_l2 = w.norm(dim=1)
        self.negative_mass = (-w).clamp(min=0).sum(dim=1)
        self.context_rms = rms(head.context)
        self.value_rms_mean = torch.sqrt((head.visible * self.r**2).sum(dim=1) / self.n_i)
        self.context_rms_relative = self.context_rms / self.value_rms_mean
        self.uncorrelated_rms = torch.sqrt((w**2 * self.r**2).sum(dim=1))
        self.implicit_sink_mass = 1 - self.weight_sum
        nothing = torch.full((self.n,), NAN, dtype=torch.float64)
        self.lam = nothing if lam is None else lam
        self.gate_mean = nothing if head.gate is None else head.gate.mean(dim=-1)
        self.norm_gain = nothing if head.norm_epsilon is None else 1 / torch.sqrt(self.context_rms**2 + head.norm_epsilon)
        self.components = [component_rows(m, head.visible) for m in head.maps]


def component_rows(m, visible):
    a, z = m.a, m.z
    logarithm = torch.where(a > 0, torch.log(a.clamp(min=1e-300)), torch.zeros_like(a))
    z_max = z.max(dim=1).values
    return {
        "lse": m.lse,
        "logit_max": z_max,
        "logit_min": z.masked_fill(~visible, math.inf).min(dim=1).values,
        "entropy": -(a * logarithm).sum(dim=1),
        "weight_max": a.max(dim=1).values,
        "weight_l2_component": a.norm(dim=1),
        "first_key_weight": a[:, 0],
        "rounds_to_one": ((z_max[:, None] - z <= ROUNDS_TO_ONE) & visible).sum(dim=1),
    }


def variant_interval(head, n_i, kind):
    """Bounds on e_i for the head's own variant (core/measure/QUANTITIES.md#intervals), per row."""
    root = torch.sqrt(n_i.double())
    if len(head.maps) == 2:
        lam = head.lam
        negative = lam < 0
        low = torch.where(negative, (1 + lam.abs()) / root, (1 - lam).abs() / root)
        high = torch.where(negative, 1 + lam.abs(), torch.sqrt(1 + lam**2))
        return low, high
    kept = head.maps[0].a.sum(dim=1) if head.sink is not None or head.softpick else torch.ones_like(root)
    return kept / root, kept


def side_of(rho, low, high, n_i):
    """(below, inside, above, undecided): closed below, open above, except at n_i = 1, where the upper end is closed."""
    near_low = (rho - low).abs() <= BORDER * low
    near_high = (rho - high).abs() <= BORDER * high
    on_both = (n_i == 1) & (near_low | near_high)  # the first row sits on its bound
    below = (rho < low) & ~near_low & ~on_both
    above = (rho >= high) & ~near_high & ~on_both
    undecided = (near_low | near_high) & ~on_both
    return below, ~below & ~above & ~undecided, above, undecided


def column_means(x, visible):
    seen = visible.sum(dim=0)
    return torch.where(seen > 0, (x * visible).sum(dim=0) / seen, torch.tensor(NAN, dtype=torch.float64))


def locality(a, visible, eligible, ids):
    n = a.shape[0]
    row = torch.arange(n)
    rows_after_first = row[eligible & (row >= 1)]
    induction = []
    causal = not visible.triu(1).any()
    last = {}  # of each token, before row i
    for i in range(n) if causal else []:
        if eligible[i] and ids[i] in last:
            induction.append(a[i, last[ids[i]] + 1].item())
        last[ids[i]] = i
    distance = (a * (row[:, None] - row[None, :]).abs()).sum(dim=1)
    return {
        "previous_token_score": mean(a[rows_after_first, rows_after_first - 1]),
        "self_score": mean(a[row, row][eligible]),
        "mean_distance": mean(distance[eligible]),
        "induction_score": float(np.mean(induction)) if induction else NAN,
    }


def head_summary(rows, kind, ids, min_row):
    """Root group, of RowStatistics: scalars, lists over components, and lists over quantiles or bounds."""
    head, n, n_i, w, visible = rows.head, rows.n, rows.n_i, rows.head.w, rows.visible
    eligible = n_i >= min(min_row, n_i.max().item())
    sees_first = rows.seen[:, 0]
    out = {"component": []}
    for index, m in enumerate(head.maps):
        c = rows.components[index]
        z, a = m.z[visible], m.a
        received = column_means(a, rows.seen)
        half = received[: math.ceil(n / 2)]
        top = int(np.nanargmax(half.numpy()))
        columns = a.sum(dim=0)
        order = sorted(range(n), key=lambda k, sums=columns.tolist(): (-sums[k], k))[:16]
        total = columns.sum()
        several = eligible & (n_i > 1)
        out["component"].append({
            "kv_head": m.key_block,
            "sink_score": mean(a[sees_first, 0]),
            "top_sink_position": top,
            "top_sink_score": half[top].item(),
            "top_key_mass": [(columns[order[:k]].sum() / total).item() for k in TOP_K],
            "top_key_position": order + [-1] * (16 - len(order)),
            "column_sums": columns.numpy(),
            "logit_max": z.max().item(),
            "logit_min": z.min().item(),
            "logit_abs_max": z.abs().max().item(),
            "logit_max_raw": m.z_raw.max().item(),
            "query_norm_max": m.query.norm(dim=1).max().item(),
            "key_norm_max": m.key.norm(dim=1).max().item(),
            "entropy_mean": mean(c["entropy"][eligible]),
            "entropy_normalized_mean": mean(c["entropy"][several] / torch.log(n_i[several].double())),
            "rounds_to_one_mean": mean(c["rounds_to_one"][eligible].double()),
            "rounds_to_one_several": mean((c["rounds_to_one"][eligible] >= 2).double()),
            "effective_keys_mean": mean(1 / c["weight_l2_component"][eligible & (c["weight_l2_component"] > 0)] ** 2),
            **locality(a, visible, eligible, ids),
        })
    rho = rows.context_rms_relative
    root = torch.sqrt(n_i.double())
    intervals = [(1 / root, torch.ones_like(root)), (torch.zeros_like(root), torch.full_like(root, math.sqrt(2))),
                 variant_interval(head, n_i, kind)]
    shares = {"below": [], "inside": [], "above": [], "undecided": []}
    for index, (low, high) in enumerate(intervals):
        below, inside, above, undecided = side_of(rho, low, high, n_i)
        if index == 1:  # (0, √2) is open below
            below = rho <= 0
            inside = ~below & ~above & ~undecided
        for name, rows_there in zip(shares, (below, inside, above, undecided)):
            shares[name].append(rows_there[eligible].double().mean().item())
    out.update({
        "rows_below_bound": shares["below"], "rows_inside_bound": shares["inside"], "rows_above_bound": shares["above"],
        "rows_undecided": shares["undecided"],
        "finite_rows": int((eligible & torch.isfinite(rho)).sum()),
        "sink_score_net": mean(w[sees_first, 0]),
        "sink_score_absolute": mean((w[:, 0].abs() / rows.weight_l1)[sees_first & (rows.weight_l1 > 0)]),
        "implicit_sink_mass": mean(rows.implicit_sink_mass[eligible]),
        "weight_l2_mean": mean(rows.weight_l2[eligible]),
        "weight_l1_mean": mean(rows.weight_l1[eligible]),
        "negative_mass_mean": mean(rows.negative_mass[eligible]),
        "context_rms_mean": mean(rows.context_rms[eligible]),
        "context_rms_min": rows.context_rms.min().item(),
        "context_rms_max": rows.context_rms.max().item(),
        "context_rms_quantile": quantiles(rows.context_rms[eligible]),
        "context_rms_relative_mean": mean(rho[eligible]),
        "coherence_mean": ((rows.context_rms[eligible] ** 2).sum() / (rows.uncorrelated_rms[eligible] ** 2).sum()).item(),
        "gate_mean": mean(rows.gate_mean[eligible]),
        "value_drain": (rows.values[0].norm() / rows.values.norm(dim=1).mean()).item(),
        "value_mean_share": (rows.values.mean(dim=0).square().sum() / rows.values.square().sum(dim=1).mean()).item(),
        "norm_gain_median": NAN, "norm_gain_max": NAN,
    })
    if head.norm_epsilon is not None:
        out["norm_gain_median"] = float(np.median(rows.norm_gain[eligible].numpy()))
        out["norm_gain_max"] = rows.norm_gain.max().item()
    names = ("weight_cancellation_mean", "energy_cancellation_mean", "output_cancellation_mean", "map_cosine_mean",
             "lambda_mean", "lambda_std")
    out.update({name: NAN for name in names})
    out["lambda_quantile"] = [NAN] * len(QUANTILES)
    if len(head.maps) == 2:
        lam, (a1, a2) = head.lam, (m.a for m in head.maps)
        l1, l2 = a1.norm(dim=1), a2.norm(dim=1)
        c1, c2 = (c.norm(dim=1) for c in head.contexts)
        out["weight_cancellation_mean"] = mean((rows.weight_l1 / (1 + lam.abs()))[eligible])
        out["energy_cancellation_mean"] = mean((rows.weight_l2 / torch.sqrt(l1**2 + lam**2 * l2**2))[eligible])
        out["output_cancellation_mean"] = mean((head.context.norm(dim=1) / torch.sqrt(c1**2 + lam**2 * c2**2))[eligible])
        out["map_cosine_mean"] = mean(((a1 * a2).sum(dim=1) / (l1 * l2))[eligible])
        out["lambda_mean"] = mean(lam[eligible])
        out["lambda_std"] = lam[eligible].std(correction=0).item()
        out["lambda_quantile"] = quantiles(lam[eligible])
    return out


COMPONENT_INTEGERS = {"kv_head": -1, "top_sink_position": -1, "top_key_position": -1, "rounds_to_one": -1}
ROOT_COMPONENT = ["kv_head", "sink_score", "top_sink_position", "top_sink_score", "top_key_mass", "top_key_position", "logit_max",
                  "logit_min", "logit_abs_max", "logit_max_raw", "query_norm_max", "key_norm_max", "entropy_mean",
                  "entropy_normalized_mean", "effective_keys_mean", "rounds_to_one_mean", "rounds_to_one_several", "previous_token_score", "self_score", "mean_distance",
                  "induction_score"]
ROOT_HEAD = ["sink_score_net", "sink_score_absolute", "implicit_sink_mass", "weight_l2_mean", "weight_l1_mean",
             "negative_mass_mean", "weight_cancellation_mean", "energy_cancellation_mean", "output_cancellation_mean",
             "map_cosine_mean", "context_rms_mean", "context_rms_min", "context_rms_max", "context_rms_quantile",
             "context_rms_relative_mean", "rows_below_bound", "rows_inside_bound", "rows_above_bound", "finite_rows",
             "coherence_mean",
             "lambda_mean", "lambda_std", "lambda_quantile", "norm_gain_median", "norm_gain_max", "gate_mean", "value_drain",
             "value_mean_share"]
ROWS_COMPONENT = ["lse", "logit_max", "logit_min", "entropy", "weight_max", "weight_l2_component", "first_key_weight",
                  "rounds_to_one"]
ROWS_HEAD = {"lambda": "lam", "weight_sum": "weight_sum", "weight_l1": "weight_l1", "weight_l2": "weight_l2",
             "negative_mass": "negative_mass", "context_rms": "context_rms", "context_rms_relative": "context_rms_relative",
             "value_rms_mean": "value_rms_mean", "uncorrelated_rms": "uncorrelated_rms",
             "implicit_sink_mass": "implicit_sink_mass", "gate_mean": "gate_mean", "norm_gain": "norm_gain"}


def two_components(name, values):
    """The component axis has always length 2; an absent map is NaN, −1 in integer datasets."""
    values = [np.asarray(v) for v in values]
    if len(values) == 1:
        values.append(np.full_like(values[0], -1) if name in COMPONENT_INTEGERS else np.full(values[0].shape, NAN))
    return np.stack(values)


def as_many_blocks(norms, most):
    """The file has one axis for key and value blocks of all layers: NaN where a layer has fewer."""
    missing = np.full((max(most - len(norms), 0), norms.shape[1]), NAN)
    return np.concatenate([norms.numpy(), missing])


def pooled_maps(w, visible, blocks_wanted):
    w, visible, n = w.numpy(), visible.numpy(), w.shape[0]
    size = math.ceil(n / blocks_wanted)
    blocks = math.ceil(n / size)
    out = {name: np.full((blocks, blocks), NAN) for name in ("pooled_mean", "pooled_max_abs", "pooled_signed_extreme", "pooled_positive", "pooled_negative")}
    for row in range(blocks):
        for column in range(blocks):
            tile = (slice(row * size, (row + 1) * size), slice(column * size, (column + 1) * size))
            inside = w[tile][visible[tile]]
            if inside.size:
                out["pooled_mean"][row, column] = inside.mean()
                out["pooled_max_abs"][row, column] = np.abs(inside).max()
                out["pooled_signed_extreme"][row, column] = farthest_from_0(inside)
                out["pooled_positive"][row, column] = np.maximum(inside, 0).mean()
                out["pooled_negative"][row, column] = np.maximum(-inside, 0).mean()
    return out


def rounds_to_one(m, visible, slack):
    distance = m.z.max(dim=1, keepdim=True).values - m.z
    return ((distance <= ROUNDS_TO_ONE + slack) & visible).sum(dim=1).numpy()


def compute(trace, ids, maps=None, min_row=64):
    """path → array [layer, head, …] for every dataset of a run file, and helper entries that begin with `_`."""
    n = len(ids)
    if n < 128:
        min_row = 1
    result = {}
    rows = [[RowStatistics(h) for h in layer.heads] for layer in trace.layers]
    summaries = [[head_summary(r, layer.kind, ids, min_row) for r in of_layer] for layer, of_layer in zip(trace.layers, rows)]

    def stack(pick):
        return np.stack([np.stack([pick(a, b) for a, b in zip(ra, rb)]) for ra, rb in zip(summaries, rows)])

    for name in ROOT_COMPONENT:
        result[name] = stack(lambda s, _: two_components(name, [c[name] for c in s["component"]]))
    for name in ROOT_HEAD:
        result[name] = stack(lambda s, _: np.asarray(s[name]))
    result["_rows_undecided"] = stack(lambda s, _: np.asarray(s["rows_undecided"]))
    result["_column_sums"] = stack(lambda s, _: two_components("column_sums", [c["column_sums"] for c in s["component"]]))
    causal = not any(layer.visible.triu(1).any() for layer in trace.layers)
    result["sink_null"] = np.asarray(sum(1 / k for k in range(1, n + 1)) / n if causal else 1 / n)
    for name in ROWS_COMPONENT:
        result["rows/" + name] = stack(lambda _, r: two_components(name, [c[name].numpy() for c in r.components]))
    result["_rounds_to_one"] = {}
    for dtype, error in LOGIT_ERROR.items():
        low, high = (stack(lambda _, r, slack=slack: two_components("rounds_to_one", [
            rounds_to_one(m, r.visible, slack) for m in r.head.maps])) for slack in (-error, error))
        result["_rounds_to_one"][dtype] = (low, high)
        # What is made of the counts: rows on the border may be on either side.
        eligible = np.stack([np.stack([(r.n_i >= min(min_row, r.n_i.max().item())).numpy() for r in layer]) for layer in rows])
        for name, of in (("rounds_to_one_mean", lambda count: count), ("rounds_to_one_several", lambda count: count >= 2)):
            means = []
            for counts in (low, high):
                value = np.where(eligible[:, :, None], of(counts).astype(float), np.nan)
                means.append(np.where(counts[..., 0] < 0, np.nan, np.nanmean(value, axis=-1)))
            result.setdefault("_" + name, {})[dtype] = tuple(means)
    for name, attribute in ROWS_HEAD.items():
        result["rows/" + name] = stack(lambda _, r: getattr(r, attribute).numpy())
    result["keys/attention_received"] = stack(lambda _, r: two_components(
        "attention_received", [column_means(m.a, r.seen).numpy() for m in r.head.maps]))
    result["keys/attention_received_net"] = stack(lambda _, r: column_means(r.head.w, r.seen).numpy())
    most = max(len(layer.key_norm) for layer in trace.layers)
    result["keys/key_norm"] = np.stack([as_many_blocks(layer.key_norm, most) for layer in trace.layers])
    result["keys/value_norm"] = np.stack([as_many_blocks(layer.value_norm, most) for layer in trace.layers])
    result["tokens/token_id"] = np.asarray(ids)
    result["tokens/visible_keys"] = np.stack([layer.heads[0].visible.sum(dim=1).numpy() for layer in trace.layers])
    result["exact/weights"] = stack(lambda _, r: two_components("weights", [m.a.numpy() for m in r.head.maps]))
    result["exact/net_weights"] = stack(lambda _, r: r.head.w.numpy())
    if maps:
        net = [[pooled_maps(r.head.w, r.visible, maps) for r in layer] for layer in rows]
        for name in net[0][0]:
            result["maps/" + name] = np.stack([np.stack([head[name] for head in layer]) for layer in net])
        parts = [[[pooled_maps(m.a, r.visible, maps) for m in r.head.maps] for r in layer] for layer in rows]
        for name, source in (("pooled_mean_components", "pooled_mean"), ("pooled_max_components", "pooled_max_abs")):
            result["maps/" + name] = np.stack([np.stack([two_components(name, [m[source] for m in head]) for head in layer])
                                               for layer in parts])
    result["hidden/residual"] = np.stack([x.numpy() for x in trace.residual])
    result["hidden/residual_rms"] = np.stack([np.sqrt((x.numpy() ** 2).mean(axis=1)) for x in trace.residual])
    result["hidden/residual_kurtosis"] = np.stack([kurtosis_of_rows(x.numpy()) for x in trace.residual])
    result["hidden/logits"] = trace.logits.numpy()
    result["weights/output_alignment"] = np.stack([layer.alignment.numpy() for layer in trace.layers])
    heads = len(trace.layers[0].heads)
    result["weights/sink_logit"] = np.asarray([layer.sink_logits or [NAN] * heads for layer in trace.layers])
    result["weights/lambda_init"] = np.asarray([NAN if layer.lambda_init is None else layer.lambda_init for layer in trace.layers])
    result["_parameters"] = [layer.parameters for layer in trace.layers]
    if causal and not torch.isnan(trace.logits).all():
        result.update(predictions(trace.logits, ids))
        if n > 1:
            result["@next_token_loss"] = result["predictions/token_loss"][1:].mean()
    result["_hist"] = [[histogram_samples(r) for r in layer] for layer in rows]
    return result


LIKELIEST = 8


def predictions(logits, ids):
    """/predictions from logits [n, T]: an independent softmax. `_logits` decide where likely tokens change places."""
    n, logits = len(ids), logits.double()
    log_probability = torch.log_softmax(logits, dim=-1)
    largest = min(LIKELIEST, logits.shape[1])
    values, tokens = torch.sort(log_probability, dim=-1, descending=True, stable=True)
    token, value = np.full((n, LIKELIEST), -1), np.full((n, LIKELIEST), NAN)
    token[:, :largest], value[:, :largest] = tokens[:, :largest].numpy(), values[:, :largest].numpy()
    loss, rank = np.full(n, NAN), np.full(n, -1)
    for i in range(1, n):
        loss[i] = -log_probability[i - 1, ids[i]].item()
        rank[i] = 1 + (logits[i - 1] > logits[i - 1, ids[i]]).sum().item()
    return {"_predicted": log_probability.numpy(), "_next_token": token, "_token_rank": rank, "predictions/next_log_probability": value,
            "predictions/log_sum_exp": torch.logsumexp(logits, dim=-1).numpy(),
            "predictions/entropy": torch.special.entr(log_probability.exp()).sum(dim=-1).numpy(), "predictions/token_loss": loss}


def histogram_samples(r):
    """The values each histogram counts: rows resp. visible entries, all rows."""
    return {
        "context_rms_relative": r.context_rms_relative.numpy(),
        "lambda": r.lam.numpy(),
        "logit": [m.z[r.visible].numpy() for m in r.head.maps],
        "attention_weight": [m.a[r.visible].numpy() for m in r.head.maps],
    }
