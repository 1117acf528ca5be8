"""What core/measure/QUANTITIES.md says, in NumPy: every dataset of a run file from the parts of the same file that its definition names.

Nothing here is read from the program's sources, and nothing from quantities.py. `Run` holds a file, `Head` one output head of one layer
with its rows and keys; ROOT, ROWS, KEYS, MAPS and HIST say for each dataset how it comes of a head, or of the run. Values come back per
head as an array over the dataset's own axes; None: the head does not have it.
"""
import functools

import h5py
import numpy as np

N1_DISTANCE = -np.log(1 - 2.0**-9)


class Run:
    def __init__(self, path):
        self.file = h5py.File(path)
        self.n = len(self.file["tokens/token_id"])
        self.ids = self.file["tokens/token_id"][()]
        self.layers, self.heads = self.file["layer"][()], self.file["head"][()]
        self.min_row = int(self.file.attrs["min_row"])

    def datasets(self, group):
        """Name → dataset of a group, without coordinates."""
        where = self.file[group] if group else self.file
        return {name: item for name, item in where.items()
                if isinstance(item, h5py.Dataset) and item.attrs.get("CLASS") != b"DIMENSION_SCALE"}

    def axis(self, dataset, number):
        return dataset.dims[number][0][()]

    def every_head(self):
        return ((*place, head) for place, head in self.heads_by_place.items())

    @functools.cached_property
    def heads_by_place(self):
        return {(l, h): Head(self, l, h) for l in range(len(self.layers)) for h in range(len(self.heads))}

    def close(self):
        self.file.close()


class Head:
    """Symbols as in the document. Lists over m = 0, 1 hold None for a map that the head does not have."""

    def __init__(self, run, l, h):
        self.run, self.l, self.h, self.n = run, l, h, run.n
        layer, head = (lambda name: run.file["program/" + name][l]), (lambda name: run.file["program/" + name][l, h])
        programs = run.file["program"]
        self.slope = programs["alibi_slope"][l, h] if "alibi_slope" in programs else np.nan
        self.scale, self.softcap, self.temperature = layer("logit_scale"), layer("softcap"), head("temperature")
        self.epsilon = head("norm_epsilon")
        self.gated = bool(head("gated"))
        self.softpick = head("normalizer") == b"softpick"
        first, second = bool(head("first_enabled")), head("q2") >= 0
        self.has = [first, second]
        self.key_block = [head("k1") if first else -1, head("k2")]
        self.query_block = [head("q1"), head("q2")]
        self.value_blocks = [[b for b in head(f"value_blocks{m}") if b >= 0] for m in (1, 2)]
        self.sink_logit = run.file["weights/sink_logit"][l, h]
        hidden = head("hidden_keys").decode()
        self.hidden = [int(key) for key in hidden.split(",")] if hidden else []
        self.visible = self.visible_keys(bool(layer("causal")), int(layer("window")) or np.inf, int(layer("chunk")),
                                         int(layer("always_visible")))
        self.n_i = self.visible.sum(axis=1)
        self.sees = self.visible.copy()  # S_k by columns
        self.sees[:, self.hidden] = False
        self.eligible = self.n_i >= min(run.min_row, self.n_i.max())

    def visible_keys(self, causal, window, chunk, always_visible):
        i, j = np.arange(self.n)[:, None], np.arange(self.n)[None, :]
        visible = np.abs(i - j) < window
        if chunk:
            visible &= i // chunk == j // chunk
        visible |= j < always_visible
        if causal:
            visible &= j <= i
        visible[:, self.hidden] = False
        for row in np.flatnonzero(~visible.any(axis=1)):
            visible[row, row] = True
        return visible

    def rows(self, name, m=None):
        values = self.run.file["rows/" + name][self.l, self.h]
        return (values if m is None else values[m]).astype(np.float64)

    @functools.cached_property
    def lam(self):
        return self.rows("lambda") if self.has[1] else np.zeros(self.n)

    # --- from /exact

    @functools.cached_property
    def a(self):
        weights = self.run.file["exact/weights"][self.l, self.h].astype(np.float64)
        return [weights[m] if self.has[m] else None for m in (0, 1)]

    @functools.cached_property
    def w(self):
        return self.run.file["exact/net_weights"][self.l, self.h].astype(np.float64)

    @functools.cached_property
    def context(self):
        return self.run.file["exact/contexts"][self.l, self.h].astype(np.float64)

    def block(self, name, number):
        return self.run.file["exact/" + name][self.l, number].astype(np.float64)

    def query(self, m):
        return self.block("queries", self.query_block[m])

    def key(self, m):
        return self.block("keys", self.key_block[m])

    def value(self, m):
        return np.concatenate([self.block("values", b) for b in self.value_blocks[m]], axis=1)

    @functools.cached_property
    def own_values(self):
        """Those of the first map, or of the second where the first is off."""
        return self.value(0 if self.has[0] else 1)

    @functools.cached_property
    def raw(self):
        apart = np.abs(np.arange(self.n)[:, None] - np.arange(self.n)[None, :])
        bias = 0 if np.isnan(self.slope) else -self.slope * apart
        return [self.scale * self.query(m) @ self.key(m).T + bias if self.has[m] else None for m in (0, 1)]

    def z(self, m):
        capped = self.raw[m] if np.isnan(self.softcap) else self.softcap * np.tanh(self.raw[m] / self.softcap)
        return np.where(self.visible, capped / self.temperature, -np.inf)

    def lse(self, m):
        z = self.z(m)
        if self.softpick:
            largest = z.max(axis=1)
            rises = np.where(np.isneginf(z), 0, np.abs(np.exp(z - largest[:, None]) - np.exp(-largest)[:, None]))
            return largest + np.log(rises.sum(axis=1) + 1e-8)
        if not np.isnan(self.sink_logit):
            z = np.concatenate([z, np.full((self.n, 1), self.sink_logit)], axis=1)
        largest = z.max(axis=1)
        return largest + np.log(np.exp(z - largest[:, None]).sum(axis=1))

    def kept(self, m):
        """s_i: what a sink or softpick leaves of a map."""
        return self.a[m].sum(axis=1)

    @functools.cached_property
    def different_values(self):
        return all(self.has) and self.value_blocks[0] != self.value_blocks[1]

    @functools.cached_property
    def r_squared(self):
        """r_j² per map, and the one that r̄ takes."""
        each = [(self.value(m) ** 2).mean(axis=1) if self.has[m] else None for m in (0, 1)]
        both = [r for r in each if r is not None]
        return each, (both[0] + both[1]) / 2 if self.different_values else both[0]

    # --- means

    def mean(self, values, also=None):
        chosen = self.eligible if also is None else self.eligible & also
        return values[chosen].mean() if chosen.any() else np.nan

    def interval(self, bound):
        """(low, high, high is closed) per row."""
        root, one = np.sqrt(self.n_i), np.ones(self.n)
        closed = self.n_i == 1
        if bound == "softmax":
            return 1 / root, one, closed
        if bound == "diff_v2":
            return 0 * one, np.sqrt(2) * one, closed
        assert bound == "variant"
        s = [self.kept(m) if self.has[m] else None for m in (0, 1)]
        if not self.has[1]:
            return s[0] / root, s[0], closed | self.softpick | (not np.isnan(self.sink_logit))
        if not self.has[0]:
            return np.abs(self.lam) * s[1] / root, np.abs(self.lam) * s[1], np.ones(self.n, bool)
        low = np.abs(s[0] - self.lam * s[1]) / root
        high = np.where(self.lam >= 0, np.sqrt(s[0] ** 2 + (self.lam * s[1]) ** 2), s[0] - self.lam * s[1])
        return low, high, closed | (self.lam < 0)

    def shares(self, bound, border):
        """Shares of eligible rows with a finite ρ that are surely below, inside, above; the rest is too near an end to tell."""
        rho = self.rows("context_rms_relative")
        low, high, closed = self.interval(bound)
        slack = np.where(self.n_i == 1, 1e-5, 0.0)
        if bound == "diff_v2":
            below, near = rho <= 0, np.zeros(self.n, bool)
        else:
            below, near = rho < low * (1 - slack), np.abs(rho - low * (1 - slack)) < border * low
        end = np.where(closed, high * (1 + slack), high)
        above = np.where(closed, rho > end, rho >= end)
        near |= np.abs(rho - end) < border * end
        counted = self.eligible & np.isfinite(rho)
        sure, count = counted & ~near, counted.sum()
        return [(sure & part).sum() / count for part in (below, ~below & ~above, above)]

    @functools.cached_property
    def repeated(self):
        """Per row the key after the latest earlier occurrence of its token, −1 where there is none."""
        latest, keys = {}, np.full(self.n, -1)
        for i, token in enumerate(self.run.ids):
            keys[i] = latest.get(token, -2) + 1
            latest[token] = i
        return keys


# --- the root group

ROOT, ROWS, KEYS, MAPS, HIST, OF_RUN = {}, {}, {}, {}, {}, {}


def one(table, name):
    """One number, or an array, per head."""
    return lambda function: table.setdefault(name, function)


def per_map(table, name, absent=np.nan):
    """For each of the two maps; `absent` where the head has none."""
    def add(function):
        def both(head):
            values = [function(head, m) if head.has[m] else None for m in (0, 1)]
            shape = next(np.shape(value) for value in values if value is not None)
            return np.stack([np.full(shape, absent) if value is None else value for value in values])
        return table.setdefault(name, both)
    return add


def seers_of_0(head, values, also=True):
    chosen = head.sees[:, 0] & also
    return values[chosen].mean() if chosen.any() else np.nan


def share_of(part, whole):
    return np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole != 0)


def received(head, m):
    return head.run.file["keys/attention_received"][head.l, head.h, m].astype(np.float64)


OF_RUN["sink_null"] = lambda run: sum(1 / k for k in range(1, run.n + 1)) / run.n

per_map(ROOT, "kv_head", -1)(lambda head, m: head.key_block[m])
per_map(ROOT, "sink_score")(lambda head, m: seers_of_0(head, head.rows("first_key_weight", m)))
one(ROOT, "sink_score_net")(lambda head: seers_of_0(head, head.w[:, 0]))
one(ROOT, "sink_score_absolute")(
    lambda head: seers_of_0(head, share_of(np.abs(head.w[:, 0]), head.rows("weight_l1")), head.rows("weight_l1") != 0))
one(ROOT, "implicit_sink_mass")(lambda head: head.mean(1 - head.rows("weight_sum")))
per_map(ROOT, "top_sink_score")(lambda head, m: np.nanmax(received(head, m)[:(head.n + 1) // 2]))
per_map(ROOT, "top_sink_position", -1)(lambda head, m: np.nanargmax(received(head, m)[:(head.n + 1) // 2]))


@per_map(ROOT, "top_key_position", -1)
def top_key_position(head, m):
    columns = head.a[m].sum(axis=0)
    order = sorted(range(head.n), key=lambda k: (-columns[k], k))[:16]
    return np.array(order + [-1] * (16 - len(order)))


@per_map(ROOT, "top_key_mass")
def top_key_mass(head, m):
    columns = np.sort(head.a[m].sum(axis=0))[::-1]
    dataset = head.run.file["top_key_mass"]
    return np.array([columns[:k].sum() for k in head.run.axis(dataset, 3)]) / columns.sum()


per_map(ROOT, "logit_max")(lambda head, m: head.rows("logit_max", m).max())
per_map(ROOT, "logit_min")(lambda head, m: head.rows("logit_min", m).min())
per_map(ROOT, "logit_abs_max")(
    lambda head, m: max(abs(head.rows("logit_max", m).max()), abs(head.rows("logit_min", m).min())))
per_map(ROOT, "logit_max_raw")(lambda head, m: head.raw[m][head.visible].max())
per_map(ROOT, "query_norm_max")(lambda head, m: np.linalg.norm(head.query(m), axis=1).max())
per_map(ROOT, "key_norm_max")(lambda head, m: head.run.file["keys/key_norm"][head.l, head.key_block[m]].max())
per_map(ROOT, "entropy_mean")(lambda head, m: head.mean(head.rows("entropy", m)))
per_map(ROOT, "entropy_normalized_mean")(
    lambda head, m: head.mean(head.rows("entropy", m) / np.log(np.maximum(head.n_i, 2)), head.n_i > 1))
per_map(ROOT, "effective_keys_mean")(
    lambda head, m: head.mean(share_of(np.ones(head.n), head.rows("weight_l2_component", m)) ** 2, head.rows("weight_l2_component", m) != 0))
per_map(ROOT, "rounds_to_one_mean")(lambda head, m: head.mean(head.rows("rounds_to_one", m)))
per_map(ROOT, "rounds_to_one_several")(lambda head, m: head.mean((head.rows("rounds_to_one", m) >= 2).astype(float)))
one(ROOT, "weight_l2_mean")(lambda head: head.mean(head.rows("weight_l2")))
one(ROOT, "weight_l1_mean")(lambda head: head.mean(head.rows("weight_l1")))
one(ROOT, "negative_mass_mean")(lambda head: head.mean(head.rows("negative_mass")))
one(ROOT, "context_rms_mean")(lambda head: head.mean(head.rows("context_rms")))
one(ROOT, "context_rms_min")(lambda head: head.rows("context_rms").min())
one(ROOT, "context_rms_max")(lambda head: head.rows("context_rms").max())
one(ROOT, "context_rms_relative_mean")(lambda head: head.mean(head.rows("context_rms") / head.rows("value_rms_mean")))
one(ROOT, "finite_rows")(lambda head: (head.eligible & np.isfinite(head.rows("context_rms_relative"))).sum())
one(ROOT, "coherence_mean")(lambda head: (head.rows("context_rms")[head.eligible] ** 2).sum()
                            / (head.rows("uncorrelated_rms")[head.eligible] ** 2).sum())
one(ROOT, "value_drain")(lambda head: np.linalg.norm(head.own_values[0]) / np.linalg.norm(head.own_values, axis=1).mean())
one(ROOT, "value_mean_share")(
    lambda head: (head.own_values.mean(axis=0) ** 2).sum() / (head.own_values**2).sum(axis=1).mean())


def quantile(values, p):
    """x at the place p(N − 1) of the sorted values."""
    x, place = np.sort(values), p * (len(values) - 1)
    below = int(np.floor(place))
    return x[below] + (place - below) * (x[min(below + 1, len(x) - 1)] - x[below])


def quantiles(head, name, values):
    return np.array([quantile(values[head.eligible], p) for p in head.run.axis(head.run.file[name], 2)])


one(ROOT, "context_rms_quantile")(lambda head: quantiles(head, "context_rms_quantile", head.rows("context_rms")))


def differential(name, needs_both=True):
    def add(function):
        return ROOT.setdefault(name, lambda head: function(head) if head.has[1] and (head.has[0] or not needs_both) else None)
    return add


differential("weight_cancellation_mean")(lambda head: head.mean(head.rows("weight_l1") / (1 + np.abs(head.lam))))
differential("energy_cancellation_mean")(lambda head: head.mean(
    head.rows("weight_l2") / np.sqrt(head.rows("weight_l2_component", 0) ** 2
                                     + head.lam**2 * head.rows("weight_l2_component", 1) ** 2)))
differential("map_cosine_mean")(lambda head: head.mean(
    (head.a[0] * head.a[1]).sum(axis=1) / (head.rows("weight_l2_component", 0) * head.rows("weight_l2_component", 1))))


@differential("output_cancellation_mean")
def output_cancellation(head):
    parts = [np.linalg.norm(head.a[m] @ head.value(m), axis=1) for m in (0, 1)]
    return head.mean(np.linalg.norm(head.context, axis=1) / np.sqrt(parts[0] ** 2 + head.lam**2 * parts[1] ** 2))


differential("lambda_mean", False)(lambda head: head.mean(head.lam))
differential("lambda_std", False)(lambda head: np.sqrt(head.mean((head.lam - head.mean(head.lam)) ** 2)))
differential("lambda_quantile", False)(lambda head: quantiles(head, "lambda_quantile", head.lam))


def norm_gain(head):
    return 1 / np.sqrt(head.rows("context_rms") ** 2 + head.epsilon)


one(ROOT, "norm_gain_median")(
    lambda head: None if np.isnan(head.epsilon) else quantile(norm_gain(head)[head.eligible], 0.5))
one(ROOT, "norm_gain_max")(lambda head: None if np.isnan(head.epsilon) else norm_gain(head).max())
one(ROOT, "gate_mean")(lambda head: head.mean(head.rows("gate_mean")) if head.gated else None)


def along(head, m, offset):
    i = np.arange(head.n)
    return np.where(i + offset >= 0, head.a[m][i, i + offset], 0.0)


per_map(ROOT, "previous_token_score")(lambda head, m: head.mean(along(head, m, -1), np.arange(head.n) >= 1))
per_map(ROOT, "self_score")(lambda head, m: head.mean(along(head, m, 0)))
per_map(ROOT, "mean_distance")(
    lambda head, m: head.mean((head.a[m] * (np.arange(head.n)[:, None] - np.arange(head.n)[None, :])).sum(axis=1)))
per_map(ROOT, "induction_score")(
    lambda head, m: head.mean(head.a[m][np.arange(head.n), head.repeated], head.repeated >= 0))

# --- the rows, from the maps and what they are made of


def weight_logarithm(a):
    return np.log(np.where(a > 0, a, 1.0))


per_map(ROWS, "lse")(lambda head, m: head.lse(m))
per_map(ROWS, "logit_max")(lambda head, m: head.z(m).max(axis=1))
per_map(ROWS, "logit_min")(lambda head, m: np.where(head.visible, head.z(m), np.inf).min(axis=1))
per_map(ROWS, "entropy")(lambda head, m: -(head.a[m] * weight_logarithm(head.a[m])).sum(axis=1))
per_map(ROWS, "weight_max")(lambda head, m: head.a[m].max(axis=1))
per_map(ROWS, "weight_l2_component")(lambda head, m: np.linalg.norm(head.a[m], axis=1))
per_map(ROWS, "first_key_weight")(lambda head, m: head.a[m][:, 0])
one(ROWS, "lambda")(lambda head: head.lam if head.has[1] else None)
one(ROWS, "weight_sum")(lambda head: head.w.sum(axis=1))
one(ROWS, "weight_l1")(lambda head: np.abs(head.w).sum(axis=1))
one(ROWS, "weight_l2")(lambda head: np.linalg.norm(head.w, axis=1))
one(ROWS, "negative_mass")(lambda head: np.maximum(-head.w, 0).sum(axis=1))
one(ROWS, "context_rms")(lambda head: np.sqrt((head.context**2).mean(axis=1)))
one(ROWS, "value_rms_mean")(lambda head: np.sqrt((head.visible * head.r_squared[1]).sum(axis=1) / head.n_i))
one(ROWS, "context_rms_relative")(lambda head: ROWS["context_rms"](head) / ROWS["value_rms_mean"](head))
one(ROWS, "implicit_sink_mass")(lambda head: 1 - head.w.sum(axis=1))
one(ROWS, "gate_mean")(lambda head: head.rows("gate_mean") if head.gated else None)
one(ROWS, "norm_gain")(lambda head: None if np.isnan(head.epsilon) else norm_gain(head))


@one(ROWS, "uncorrelated_rms")
def uncorrelated_rms(head):
    each, shared = head.r_squared
    if not head.different_values:
        return np.sqrt((head.w**2 * shared).sum(axis=1))
    return np.sqrt((head.a[0] ** 2 * each[0]).sum(axis=1) + head.lam**2 * (head.a[1] ** 2 * each[1]).sum(axis=1))


def rounds_to_one(head, m, slack):
    z = head.z(m)
    return ((z.max(axis=1)[:, None] - z <= N1_DISTANCE + slack) & head.visible).sum(axis=1)


# --- keys, maps, histograms


def column_means(head, weights):
    seen = head.sees.sum(axis=0)
    return np.where(seen > 0, (weights * head.sees).sum(axis=0) / np.maximum(seen, 1), np.nan)


per_map(KEYS, "attention_received")(lambda head, m: column_means(head, head.a[m]))
one(KEYS, "attention_received_net")(lambda head: column_means(head, head.w))


def pooled(function):
    """function(visible entries of a block), over the blocks of the map's axes."""
    def blocks(head, weights):
        first = head.run.file["maps/query_block"][()]
        ends = [*first[1:], head.n]
        out = np.full((len(first), len(first)), np.nan)
        for r, rows in enumerate(zip(first, ends)):
            for c, columns in enumerate(zip(first, ends)):
                tile = (slice(*rows), slice(*columns))
                if head.visible[tile].any():
                    out[r, c] = function(weights[tile][head.visible[tile]])
        return out
    return blocks


one(MAPS, "pooled_mean")(lambda head: pooled(np.mean)(head, head.w))
one(MAPS, "pooled_max_abs")(lambda head: pooled(np.max)(head, np.abs(head.w)))
def farthest_from_0(w):
    """Of w and −w, equal to 1e-5, the positive one."""
    high, low = max(w.max(), 0.0), min(w.min(), 0.0)
    return high if -low <= high * (1 + 1e-5) else low


one(MAPS, "pooled_signed_extreme")(lambda head: pooled(farthest_from_0)(head, head.w))
one(MAPS, "pooled_positive")(lambda head: pooled(np.mean)(head, np.maximum(head.w, 0)))
one(MAPS, "pooled_negative")(lambda head: pooled(np.mean)(head, np.maximum(-head.w, 0)))
per_map(MAPS, "pooled_mean_components")(lambda head, m: pooled(np.mean)(head, head.a[m]))
per_map(MAPS, "pooled_max_components")(lambda head, m: pooled(np.max)(head, head.a[m]))

# What each histogram counts; its edges are the file's.
one(HIST, "context_rms_relative")(lambda head: [head.rows("context_rms_relative")])
one(HIST, "lambda")(lambda head: [head.lam] if head.has[1] else [None])
one(HIST, "logit")(lambda head: [head.z(m)[head.visible] if head.has[m] else None for m in (0, 1)])
one(HIST, "attention_weight")(lambda head: [head.a[m][head.visible] if head.has[m] else None for m in (0, 1)])


def count_spikes(values):
    spikes = 0
    for t in range(100, len(values)):
        before = values[t - 100:t]
        middle = np.median(before)
        spikes += not values[t] <= middle + 6 * np.median(np.abs(before - middle))
    return spikes
