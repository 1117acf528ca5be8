"""Compares a run file with the oracle's datasets. Collects every deviation; a failure names dataset, index, values and bound."""
import h5py
import numpy as np

TOLERANCES = {"float64": {"statistic": 1e-9, "hidden": 1e-9, "sample": 1e-9},
              "float32": {"statistic": 2e-4, "hidden": 1e-4, "sample": 2e-4}}
FLOOR = 0.05  # a head whose values are all smaller is held to the bound of this size
HISTOGRAMS = {"context_rms_relative": False, "logit": True, "lambda": False, "attention_weight": True}


class Comparison:
    def __init__(self, path, expected, dtype):
        self.file = h5py.File(path, "r")
        self.expected, self.dtype, self.problems, self.checked = expected, dtype, [], set()
        self.worst = {"hidden": 0.0, "statistic": 0.0}  # the largest error of the scale, of streams and logits and of all others

    def problem(self, name, text):
        self.problems.append(f"{name}: {text}")

    def read(self, name, shape=None):
        found = self.file.get(name)
        if found is None:
            self.problem(name, "missing")
            return None
        value = found[()]
        if shape is not None and value.shape != shape:
            self.problem(name, f"shape {value.shape}, expected {shape}")
            return None
        self.checked.add(name)
        return value

    def floats(self, name, reference, tolerance, keep_axes):
        """`keep_axes` leading axes each have their own scale: the largest magnitude along the others."""
        value = self.read(name, reference.shape)
        if value is None:
            return
        stored = np.dtype(self.dtype)
        if value.dtype != stored:
            self.problem(name, f"stored as {value.dtype}, expected {stored}")
        absent = np.isnan(reference)
        if not np.array_equal(np.isnan(value), absent):
            where = np.argwhere(np.isnan(value) != absent)[0]
            at = tuple(where)
            self.problem(name, f"NaN differs at {at}: file {value[at]}, expected {reference[at]}")
            return
        if absent.all():
            return
        reference, value = np.where(absent, 0, reference), np.where(absent, 0, value)
        keep_axes = min(keep_axes, reference.ndim)
        others = tuple(range(keep_axes, reference.ndim))
        scale = np.maximum(np.abs(reference).max(axis=others, keepdims=True), FLOOR)
        error = np.abs(value - reference) / scale
        worst = np.unravel_index(np.argmax(error), error.shape)
        group = "hidden" if name.startswith("hidden/") else "statistic"
        self.worst[group] = max(self.worst[group], float(error[worst]))
        if not error[worst] <= tolerance:
            self.problem(name, f"at {tuple(map(int, worst))}: file {value[worst]!r}, expected {reference[worst]!r}; "
                               f"error {error[worst]:.3e} of the scale, bound {tolerance:.0e}")

    def integers(self, name, reference):
        value = self.read(name, reference.shape)
        if value is not None and not np.array_equal(value, reference):
            at = tuple(np.argwhere(value != reference)[0])
            self.problem(name, f"at {tuple(map(int, at))}: file {value[at]}, expected {reference[at]}")

    def between(self, name, low, high):
        value = self.read(name, low.shape)
        if value is None:
            return
        outside = (value < low - 1e-6) | (value > high + 1e-6) | (np.isnan(value) != np.isnan(low))
        if outside.any():
            at = tuple(np.argwhere(outside)[0])
            self.problem(name, f"at {tuple(map(int, at))}: file {value[at]}, expected {low[at]} … {high[at]}")

    def positions(self, tolerance):
        """Ranks may differ only where the values they rank are equal within the tolerance."""
        columns, n = self.expected["_column_sums"], len(self.expected["tokens/token_id"])
        value = self.read("top_key_position", self.expected["top_key_position"].shape)
        if value is not None:
            for index in np.ndindex(value.shape[:-1]):
                file, own = value[index], self.expected["top_key_position"][index]
                used = own >= 0
                fine = (file[~used] == -1).all() and len(set(file[used])) == used.sum() and ((0 <= file[used]) & (file[used] < n)).all()
                if not fine or not np.allclose(columns[index][file[used]], columns[index][own[used]], rtol=tolerance, atol=tolerance):
                    self.problem("top_key_position", f"at {index}: file {file}, expected {own}")
        value, own = self.read("top_sink_position", self.expected["top_sink_position"].shape), self.expected["top_sink_position"]
        received = self.expected["keys/attention_received"]
        for index in [] if value is None else np.ndindex(value.shape):
            k = value[index]
            if own[index] < 0 or k < 0 or k >= n / 2:
                if k != own[index]:
                    self.problem("top_sink_position", f"at {index}: file {k}, expected {own[index]}")
            elif not abs(received[index][k] - received[index][own[index]]) <= tolerance:
                self.problem("top_sink_position", f"at {index}: file {k}, expected {own[index]}")

    def histograms(self, tolerance):
        """Counts given the file's edges: [lo, hi) bins, values outside count in the first and last."""
        for name, per_component in HISTOGRAMS.items():
            counts, edges = self.read("hist/" + name), self.read(f"hist/{name}_edges")
            if counts is None or edges is None:
                continue
            if counts.dtype != np.int64 or counts.shape[-1] + 1 != len(edges) or not (np.diff(edges) > 0).all():
                self.problem("hist/" + name, f"{counts.dtype} {counts.shape}, {len(edges)} edges")
                continue
            for layer, heads in enumerate(self.expected["_hist"]):
                for head, samples in enumerate(heads):
                    samples = samples[name] if per_component else [samples[name]]
                    for component, x in enumerate(samples):
                        at = (layer, head, component) if per_component else (layer, head)
                        self.one_histogram(name, at, counts[at], edges, x[~np.isnan(x)], tolerance)
                    if per_component and len(samples) == 1 and (counts[layer, head, 1] > 0).any():
                        self.problem("hist/" + name, f"at {(layer, head, 1)}: counts of an absent map")

    def one_histogram(self, name, at, counts, edges, x, tolerance):
        if not len(x) and (counts == -1).all():
            return  # absent, as in every integer dataset
        if counts.sum() != len(x):
            self.problem("hist/" + name, f"at {at}: {counts.sum()} counts, expected {len(x)}")
            return
        below = np.cumsum(counts)[:-1]  # values below each interior edge
        slack = tolerance * (np.abs(edges[1:-1]) + (1 if name == "logit" else 0))
        ascending = np.sort(x)
        low, high = (np.searchsorted(ascending, edges[1:-1] + side * slack) for side in (-1, 1))  # how many are less
        wrong = (below < low) | (below > high)
        if wrong.any():
            i = int(np.argmax(wrong))
            self.problem("hist/" + name, f"at {at}: {below[i]} values below edge {edges[i + 1]:.6g}, expected {low[i]} … {high[i]}")

    def all(self, skip=(), hidden=True):
        """Every dataset of the oracle, but the paths that begin with an entry of `skip`."""
        bound = TOLERANCES[self.dtype]

        def skipped(name):
            return any(name == s or name.startswith(s + "/") or (s.endswith("*") and name.startswith(s[:-1])) for s in skip)

        for name, reference in self.expected.items():
            if name[0] in "_@" or skipped(name):
                continue
            if name in ("top_key_position", "top_sink_position"):
                continue
            if name == "rows/rounds_to_one":
                self.between(name, *self.expected["_rounds_to_one"][self.dtype])
            elif name in ("rounds_to_one_mean", "rounds_to_one_several"):
                self.between(name, *self.expected["_" + name][self.dtype])
            elif name.startswith("rows_"):
                self.between(name, reference, reference + self.expected["_rows_undecided"])
            elif name == "weights/sink_logit":
                self.floats(name, reference, bound["statistic"], 1)
            elif name.startswith("predictions/"):
                if hidden and "predictions" in self.file:
                    self.floats(name, reference, 10 * bound["hidden"], 0)
            elif name.startswith("hidden/"):
                if hidden:
                    self.floats(name, reference, bound["hidden"], 1 if name == "hidden/residual" else 0)
            elif np.issubdtype(reference.dtype, np.integer):
                self.integers(name, reference)
            else:
                self.floats(name, reference, bound["statistic"], 2)
        if not skipped("top_key_position"):
            self.positions(bound["statistic"])
        if not skipped("hist"):
            self.histograms(bound["sample"])
        if "_predicted" in self.expected and not skipped("predictions"):
            self.predictions(10 * bound["hidden"])
        elif "_predicted" not in self.expected and "predictions" in self.file:
            self.problem("predictions", "written for rows that see what they would predict")
        if "@next_token_loss" in self.expected:
            loss = self.file.attrs.get("next_token_loss")
            if loss is None or not abs(float(loss) - self.expected["@next_token_loss"]) <= 10 * bound["hidden"]:
                self.problem("next_token_loss", f"file {loss}, expected {self.expected['@next_token_loss']}")
        elif "next_token_loss" in self.file.attrs:
            self.problem("next_token_loss", "written for rows that see what they would predict")

    def predictions(self, tolerance):
        """Likely tokens and ranks may differ only among log-probabilities that are equal within the tolerance."""
        if "predictions" not in self.file:  # summaries leave them out, as runs do that end before the logits
            if "next_token_loss" in self.file.attrs and "rows" in self.file:
                self.problem("predictions", "missing")
            return
        predicted, own = self.expected["_predicted"], self.expected["_next_token"]
        tokens, ranks = self.read("predictions/next_token", own.shape), self.read("predictions/token_rank", self.expected["_token_rank"].shape)
        slack = tolerance * max(1.0, np.nanmax(np.abs(self.expected["predictions/log_sum_exp"])))
        for i in range(len(own)) if tokens is not None and ranks is not None else ():
            found, wanted = tokens[i][tokens[i] >= 0], own[i][own[i] >= 0]
            if len(found) != len(wanted) or len(set(found)) != len(found) or \
                    (np.abs(predicted[i][found] - predicted[i][wanted]) > slack).any():
                self.problem("predictions/next_token", f"row {i}: file {tokens[i]}, expected {own[i]}")
            if i == 0:
                if ranks[0] != -1:
                    self.problem("predictions/token_rank", f"the first token has rank {ranks[0]}")
                continue
            token = self.expected["tokens/token_id"][i]
            low, high = (1 + int((predicted[i - 1] > predicted[i - 1][token] + side * slack).sum()) for side in (1, -1))
            high -= 1 if slack > 0 else 0  # the token itself
            if not low <= ranks[i] <= max(low, high):
                self.problem("predictions/token_rank", f"token {i}: file {ranks[i]}, expected {low} … {high}")

    def parameters(self):
        """The account of the attention block by the labels of its axis."""
        counts = self.read("weights/parameters")
        if counts is None:
            return
        axis = self.file["weights/parameters"].dims[1][0]
        labels = [label.decode() for label in axis[()]]
        for layer, account in enumerate(self.expected["_parameters"]):
            for kind, number in account.items():
                found = counts[layer][labels.index(kind)] if kind in labels else None
                if found is None and number or found is not None and max(found, 0) != number:
                    self.problem("weights/parameters", f"layer {layer} {kind}: file {found}, expected {number}")

    def routing(self, reference):
        """/router against layer → (experts, numbers [n, k], weights [n, k]) in any order of k."""
        if not reference:
            if "router" in self.file:
                self.problem("router", "written of a model without experts")
            return
        numbers, weights, counts = (self.read("router/" + name) for name in ("chosen_expert", "chosen_weight", "tokens_per_expert"))
        if numbers is None or weights is None or counts is None:
            return
        layers = self.file["router/tokens_per_expert"].dims[0][0][()].tolist()
        if layers != sorted(reference):
            self.problem("router", f"layers {layers}, expected {sorted(reference)}")
            return
        for l, layer in enumerate(layers):
            experts, own, weight = (part if isinstance(part, int) else part.numpy() for part in reference[layer])
            used = numbers[l] >= 0
            if (used.sum(axis=1) != own.shape[1]).any() or not np.array_equal(np.isnan(weights[l]), ~used):
                self.problem("router/chosen_expert", f"layer {layer}: not {own.shape[1]} experts for each token")
                continue
            found, expected = np.zeros((2, len(own), experts))
            np.put_along_axis(found, numbers[l][:, :own.shape[1]], weights[l][:, :own.shape[1]], axis=1)
            np.put_along_axis(expected, own, weight, axis=1)
            error = np.abs(found - expected).max() / np.abs(expected).max()
            if not error <= TOLERANCES[self.dtype]["statistic"]:
                self.problem("router/chosen_weight", f"layer {layer}: differs by {error:.3e} of the largest")
            if (np.diff(weights[l][:, :own.shape[1]], axis=1) > 0).any():
                self.problem("router/chosen_weight", f"layer {layer}: not by descending weight")
            if not np.array_equal(counts[l][:experts], np.bincount(numbers[l][used], minlength=experts)):
                self.problem("router/tokens_per_expert", f"layer {layer}: {counts[l]}")
            if (counts[l][experts:] != -1).any():
                self.problem("router/tokens_per_expert", f"layer {layer}: tokens of experts that it does not have")

    def finish(self):
        self.file.close()
        assert not self.problems, "\n" + "\n".join(self.problems)
