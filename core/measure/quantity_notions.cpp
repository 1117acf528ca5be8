#include "core/measure/quantity_notions.h"

#include <array>
#include <span>
#include <string_view>

namespace headroom {
namespace {

// Without the line breaks at both ends, which are there for the eye.
constexpr std::string_view text(std::string_view literal) { return literal.substr(1, literal.size() - 2); }

constexpr std::array kNotions = {
    Notion{"Symbols", text(R"(
Tokens are numbered 0 … n − 1; i is a query row, j and k are keys. Everything below is of one output head of one
layer. A head has a first map and, if it is differential, a second one: component 0 and 1 of the axis `component`. An
upper index m = 1, 2 tells them apart; a formula without it holds for each map.

| symbol | meaning |
|---|---|
| V_i, n_i | the keys that row i sees, and how many these are |
| S_k | the rows that see key k |
| z_ij, LSE_i, a_ij | logits, their log-sum-exp, attention weights |
| p_i | share of a sink: 1 − Σ_j a_ij; 0 without one |
| λ_i | what the second map is multiplied with: `rows/lambda` |
| w_ij | net weights, what multiplies the values |
| v_j, r_j | value of key j in this head; r_j = RMS(v_j) |
| c_i | context: the head's weighted sum of values |

RMS(x) = ‖x‖₂/√(number of channels of x). ‖x‖₁ and ‖x‖₂ are the usual norms, ln is the natural logarithm, σ(x) = 1/(1
+ e^{−x}). Sums over j run over all keys; masked weights are 0. "mean_i" is the mean over the rows that the entry
names. Where a range speaks of |λ|, it means the largest |λ_i| of the head, 0 for heads with one map.
)")},

    Notion{"Visible keys", text(R"(
With W = `program/window` (0: no window, W = ∞), C = `program/chunk` (0: no chunks) and S = `program/always_visible`, row i
sees

    V_i = { j : j ≤ i and (j < S or (i − j < W and ⌊i/C⌋ = ⌊j/C⌋)) }  `program/causal` = 1
    V_i = { j : j < S or (|i − j| < W and ⌊i/C⌋ = ⌊j/C⌋) }            `program/causal` = 0

without the keys in `program/hidden_keys` (a what-if). A row for which nothing is left keeps its own key: V_i = { i }.
n_i is the number of keys in V_i, so n_i = i + 1 without window, chunks and hidden keys. S_k = { i : k ∈ V_i } are the rows
that see key k; S_k is empty for a hidden key, even where its own row has kept it, so that means over S_k are NaN
there.
)")},

    Notion{"Eligible rows", text(R"(
The first rows see so few keys that nothing about them is a finding: row 0 has weight 1 on key 0, entropy 0 and ‖a‖₂ =
1 whatever the head does. Means, quantiles and medians are therefore over the eligible rows

    E = { i : n_i ≥ min(min_row, max_i n_i) }

with the root attribute `min_row`: 64, or 1 in runs of fewer than 128 tokens. Extrema, sink scores and everything per
key are over all rows. Each dataset says it: attribute `rows` is "eligible" or "all"; `rows_where` names a further
condition. A mean over no row is NaN.
)")},

    Notion{"Numbers that are not finite", text(R"(
Weights of a checkpoint may be NaN or infinite, and large ones overflow. What is made of such a number is NaN, and a
mask lets nothing through: a key that row i does not see changes nothing in row i. A row that sees a logit of NaN or
+∞, the sink's among them, or none but −∞ and no sink, has no softmax: its log-sum-exp, its weights and all that is made
of them are NaN. Where a sink or another key takes the row, a logit of −∞ has the weight 0. A value or λ_i that is not finite makes the context
of every row that sees it NaN, whatever its weight, and λ_i the net weights too.

A mean, an extremum or a quantile over rows of which one is NaN is NaN, and positions of largest sums are −1. Histograms
count what is a number. The shares of rows against the intervals are of the rows with a finite ρ_i, which `finite_rows`
counts. The root attributes `non_finite_weights` and `non_finite_layer` name tensors and layer.
)")},

    Notion{"Logits and weights", text(R"(
Queries and keys are taken after qk-norm and rotation. With s = `program/logit_scale`, the soft-cap C =
`program/softcap` (NaN: none), the temperature T = `program/temperature` (1 but for what-ifs) and the bias b_d of the
distance d = p − j from the row's position p to the key (0 without one)

    z_ij = (s·q_i·k_j + b_{p−j}) / T                        without soft-cap
    z_ij = C·tanh((s·q_i·k_j + b_{p−j}) / C) / T            with soft-cap

for j ∈ V_i; `logit_max_raw` alone is of s·q_i·k_j + b_{p−j} before both. ALiBi (Press, Smith and Lewis 2022, arXiv 2108.12409)
has b_d = −`program/alibi_slope`·abs(d), 0 at the row's own key; where a library adds slope·j instead, its logits and log-sum-exp
are higher by the row's constant, slope·p, and its weights are the same. A learned bias (T5: Raffel et al. 2020, arXiv
1910.10683) stands in `program/distance_bias`. A sink is one more key with value 0 and a logit b that
is neither scaled nor capped: b = 0 for softmax-off-by-one, learned for each head with a sink logit;
`weights/sink_logit` holds it, NaN without one. Both maps of a head have the same.

    LSE_i = ln(e^b + Σ_{j ∈ V_i} e^{z_ij})      without a sink: without e^b
    a_ij  = e^{z_ij − LSE_i} for j ∈ V_i, else 0
    p_i   = 1 − Σ_j a_ij = e^{b − LSE_i}

`rows/lse` includes the sink's term (root attribute `lse_includes_sink` = 1), so that a = exp(z − lse) in every kind.
Some kernels return a log-sum-exp without it (gpt-oss, OpenAI 2025, arXiv 2508.10925): L, say; then LSE = ln(e^L +
e^b). Entropy, effective keys and maxima use these a over the real keys, whose sum is 1 − p_i: H_i = (1 − p_i)·LSE_i −
Σ_j a_ij z_ij.

Softpick (`program/normalizer`; Zuhri et al. 2025, arXiv 2504.20966) has no sink. With m_i = max_j z_ij and ε = 10⁻⁸

    LSE_i = m_i + ln(ε + Σ_{j ∈ V_i} abs(e^{z_ij − m_i} − e^{−m_i}))
    a_ij  = max(e^{z_ij − LSE_i} − e^{−LSE_i}, 0)

over the logits that are not −∞. Logits of 0 and below weigh nothing, p_i = 1 − Σ_j a_ij lies in (0, 1], and a row
whose logits are all such weighs nothing at all: what divides by its weights leaves the row out (`rows_where`).

The net weights are

    w_ij = a_ij                                 heads with one map
    w_ij = a¹_ij − λ_i a²_ij                    heads with two maps
    w_ij = −λ_i a²_ij                           what-if first-map=off: `program/first_enabled` = 0, component 0 is absent

and Σ_j w_ij = 1 − λ_i with softmax and no sink.
)")},

    Notion{"Values and contexts", text(R"(
The value v_j of a head is the concatenation of the value blocks that `program/value_blocks1` names: one block, or two
for DIFF V1. Both maps multiply the same values, with one exception: the what-if `pairing=halves` on DIFF V2 pairs
query heads of different groups, each of which keeps its own values; then `program/value_blocks2` differs, and v¹_j ≠
v²_j.

    c_i = Σ_j w_ij v_j                          the same values
    c_i = Σ_j (a¹_ij v¹_j − λ_i a²_ij v²_j)     different ones

c_i is taken before the head norm, the factor (1 − λ_init), the gate and W_O. RMS_i = RMS(c_i). From these

    r_j² = mean over channels of v_j²           different values: the mean of (r¹_j)² and (r²_j)²
    r̄_i² = mean over j ∈ V_i of r_j²
    ρ_i  = RMS_i / r̄_i                          the context's RMS in units of the values

`value_drain` and `value_mean_share` are of the first map's values (of the second's where the first map is off).
`value_mean_share` m says how much of the values is one common vector: with uniform attention RMS² is near (1/n +
m)·mean r².
)")},

    Notion{"Intervals", text(R"(
The post on DIFF V2 (Ye et al. 2026, https://huggingface.co/blog/microsoft/diff-attn-v2) bounds the RMS of a context,
for values that are uncorrelated and have RMS 1: softmax in [1/√n, 1), DIFF V2 in (0, √2). For such values RMS² is
‖w_i‖₂² in expectation, so that the intervals are statements on e_i = ‖w_i‖₂, which hold for any values; that ρ_i
follows them is a property of the values of the head. The datasets `rows_below_bound`, `rows_inside_bound`,
`rows_above_bound` count ρ_i against three intervals, along the axis `bound`. s^m_i = Σ_j a^m_ij is what a sink or
softpick leaves of map m: 1 with softmax and no sink.

| bound | head | low | high |
|---|---|---|---|
| softmax | any | 1/√n_i | 1, open |
| diff_v2 | any | 0, open | √2, open |
| variant | one map, no sink (a gate does not matter) | 1/√n_i | 1, open |
| variant | one map, a sink or softpick | s_i/√n_i | s_i, closed |
| variant | two maps, λ_i ≥ 0 | abs(s¹_i − λ_i s²_i)/√n_i | √((s¹_i)² + (λ_i s²_i)²), open |
| variant | two maps, λ_i < 0 | (s¹_i − λ_i s²_i)/√n_i | s¹_i − λ_i s²_i, closed |
| variant | only the second map | abs(λ_i) s²_i/√n_i | abs(λ_i) s²_i, closed |

Without a sink the third and fourth of `variant` are abs(1 − λ)/√n_i to √(1 + λ²), and (1 + abs(λ))/√n_i to 1 +
abs(λ). The low ends follow from Σ_j w_ij by Cauchy and Schwarz and are reached by uniform maps; the high ends from
‖a‖₂² ≤ s² and Σ_j a¹_ij a²_ij ≥ 0, and are reached by disjoint one-hot maps, for λ < 0 by equal ones. Low ends are
closed: a row is below where ρ_i < low, above where ρ_i ≥ high (ρ_i > high where the high end is closed), inside
otherwise; against `diff_v2` it is below where ρ_i = 0. For n_i = 1 a head sits on its bound: there every high end is
closed, and both ends give way by a relative 1e-5 for rounding. A gate multiplies after c_i and does not change the
interval. The three shares sum to 1.
)")},

    Notion{"Decomposition", text(R"(
How a context becomes small or large, row by row and without any assumption:

    log RMS_i = log e_i + log r̃_i + ½ log κ_i

    e_i  = ‖w_i‖₂                               shape of the attention
    q_i  = √(Σ_j w_ij² r_j²)                    the RMS that uncorrelated values would give: `rows/uncorrelated_rms`
    r̃_i  = q_i / e_i                            size of the values where the head looks
    κ_i  = RMS_i² / q_i²                        coherence: 1 uncorrelated, above 1 aligned, below 1 cancelling values

With different values per map q_i² = Σ_j ((a¹_ij r¹_j)² + (λ_i a²_ij r²_j)²). `coherence_mean` is the ratio of sums
over the eligible rows, Σ_i RMS_i² / Σ_i q_i², not the mean of ratios, so that rows with tiny q_i do not decide it.
)")},

    Notion{"The premise", text(R"(
The interval [1/√n, 1) is one for values that are uncorrelated and have one size: then RMS_i² is q_i² in expectation.
`--premise` measures whether the values v_j of a head are such, and what becomes of the interval where they are not.
Its rows are the eligible ones; where there are more than 256, those with the numbers ⌊k·N/256⌋ among N are sampled.

    c̄     = Σ_{j≠k} v_j·v_k / ((n − 1) Σ_j ‖v_j‖²)      `value_correlation`: the mean over pairs
    n_eff = n / (1 + (n − 1) c̄) = 1/m                    `value_independent_count`, m = `value_mean_share`

If all values have one size and all pairs the correlation c̄ ≥ 0, then RMS²/r̄² = (1 − c̄) ‖w‖₂² + c̄ (Σ_j w_j)², which
softmax weights make smallest where they are uniform: the lower end of the interval is 1/√n_eff in place of 1/√n. For
any values 1/√n_eff is the ρ of uniform attention over all keys; `rows/uniform_rms_relative` is the same of the keys
that row i sees. What softmax weights could reach at best is `rows/hull_distance`, the distance of 0 from the convex
hull of the values. (The rank of G does not say it: n values of d < n channels have rank d, yet uniform attention over
independent ones has ρ near 1/√n.) Uncorrelated values have m·n near 1, not near 0: 1 ± √(2/d) for normal ones.

Random signs. If a value could as well have had the opposite sign, weights being what they are, then

    E RMS²(Σ_j w_ij ε_j v_j) = q_i²,    ε_j = ±1 at random

whatever the sizes and whatever the weights. So the coherence K = Σ_i RMS_i² / Σ_i q_i² of the sampled rows is compared
with that of 999 draws of signs, one sign per key for all rows: `sign_p` says how seldom they come as far,
`sign_coherence_interval` what K could not be told from, `sign_rows_below_bound` and `sign_rows_above_bound` which rows
would leave the interval even so. The same with v_j − μ, μ = mean_j v_j, tells whether a common vector is all there is.
The draws are over the values of one text; more texts are more runs. Benjamini and Hochberg's correction is over the
heads of a run (figures and reports make it).
)")},

    Notion{"Attention sinks", text(R"(
Gu et al. 2024 (arXiv 2410.10781) call key k a sink of a head where the mean attention that it receives, over the rows
that can see it,

    α_k = (1/|S_k|) Σ_{i ∈ S_k} a_ik

is above ε = 0.3. Row k itself counts. The level of uniform causal attention is not 0: α_0 = H_n/n with H_n = 1 + 1/2
+ … + 1/n, `sink_null` (1/n where rows see all keys); for n ≤ 9 it is above 0.3 itself. α falls with n, so that runs of different lengths do not
compare. A sink that both maps of a differential head share cancels in their difference. Therefore four numbers:
`sink_score` of each map, `sink_score_net` (mean of w_i0, signed), `sink_score_absolute` (its share of Σ_j |w_ij|,
blind to signs), and `implicit_sink_mass` (what goes to no key at all: a sink logit's share, or DIFF V2's λ).
)")},

    Notion{"Cancellation", text(R"(
For two maps of mass 1 and λ ≥ 0: abs(1 − λ) ≤ ‖w‖₁ ≤ 1 + λ and Σ_j min(a¹_j, λ a²_j) = (1 + λ − ‖w‖₁)/2 is the mass
that cancels. Negative mass N = (‖w‖₁ − Σ_j w_j)/2 lies in [0, λ], and in [0, min(1, λ)] the mass that cancels.
Weight, energy and output cancellation compare the difference with its parts in L1, in L2 and after the values. Near λ
= 0 all three are near 1 because there is nothing to cancel with: read them beside `lambda_mean`. For λ < 0 the maps
add up: weights stay positive, energy cancellation lies in [1, √2].
)")},

    Notion{"Histograms and pooled maps", text(R"(
Bins are uniform in ρ's and a's decimal logarithm, in λ and in z, the same in every run: ρ 80 bins from 10⁻⁴ to 10, λ
96 from −1 to 2, z 256 from −64 to 64, a 96 from 10⁻¹² to 1; bin b is [edge b, edge b + 1). The first and the last
also count what lies beyond; a weight of 0 counts in the first. Centres are the coordinates of the axes `…_bin` (for
logarithmic bins the geometric ones), edges those of `…_edges`. Counts are exact, over all rows and all visible
entries.

Pooled maps have blocks of B = ⌈n/P⌉ rows and keys for `--maps P`; their axes hold the first position of a block.
Means are over visible entries only, so that the diagonal is not diluted.
)")},

    Notion{"Choice of blocks", text(R"(
What `headroom blocks` measures. Block b holds keys bB … bB + B − 1 (`--block`); row i sees m_i blocks of which it sees a
key. Block-sparse attention lets a row read k of them, chosen by the product of the query and a mean key:

    s_ib = scale · q_i · mean{ k_j : j ∈ b and j ∈ V_i }

q and k after norms and rotation, scale that of the logits, with the head's temperature; no cap. Such a product is the
mean of the block's logits before the cap. `--always own` takes the row's own block whatever its score (MoBA), `local` the
own, the first and the one before the own, in this order (as the initial and local blocks of NSA), `none` neither; they
count among the k. The others go by falling s_ib, of equal ones the first. MoBA masks the future inside the own block,
as here; NSA chooses by learned compressions of keys and by softmax scores that are summed over a group, of which this
is the form without weights of its own.

Each map has one score, and so may choose alone; the two maps of a differential head together, by the mean of their
scores (`pair`; of a head with one map that is alone); and all maps of a group, by the mean of all (`group`). A group is
the heads whose maps share a key block or a value block, also by way of others: the query heads of one key head, in DIFF
V2 with the pairs in it, in DIFF V1 both maps, which have keys of their own, of the heads that share values. The post on DIFF V2
says that block-sparse attention needs no change, since a pair can choose together or by logits averaged over its group.

With C_i the keys of the chosen blocks, recall is mean_i Σ_{j ∈ C_i} |x_ij| / Σ_j |x_ij| for x = a¹, a² and w, without
renormalising; of a sink only what goes to keys counts. Where two maps choose alone, w_ij is there only if both have chosen
its block, so their recall of w is over the blocks that both chose, while the cost is those that either did (`blocks_read`). `oracle` takes the k
blocks with most Σ_{j ∈ b} |x_ij| of this map: no choice holds more. `chance` is the mean over all ways to choose the
blocks that are not always chosen. All is over rows with m_i > k (`rows`): the others read everything.

Agreement is the Jaccard index of the blocks that two maps choose alone, those left out that always are; by chance it is
its mean over two independent draws of as many blocks of the same. Numbers of a sequence are means over its rows; over
sequences they have the statistics of a corpus, documents as clusters (`core/corpus/CORPUS.md#statistics`). MoBA: Lu et al.
2025, arXiv 2502.13189, §2.2. NSA: Yuan et al. 2025, arXiv 2502.11089, §3.3. Groups: Ainslie et al. 2023, arXiv 2305.13245.
DIFF V2: https://huggingface.co/blog/microsoft/diff-attn-v2.
)")},

    Notion{"Next tokens", text(R"(
z_it is the logit of token t of a vocabulary of T in row i: lm_head of the final norm, soft-capped where the model does,
as `hidden/logits` holds it.

    L_i = ln Σ_t e^{z_it}        P_it = e^{z_it − L_i}

P_i is the model's distribution of the token at i + 1. Sums are in double. Of each row the 8 likeliest tokens are kept,
L_i and the entropy of P_i, and of the token that came its loss and rank. A row with a logit of NaN or +∞ has NaN, no
likely token and no rank. Only layers that see no later token predict: the group is absent of encoders, captures, and
runs that end before the logits. Of an encoder-decoder rows are those of the target.
)")},

    Notion{"Quantiles", text(R"(
Quantiles and medians interpolate linearly between order statistics (type 7 of Hyndman and Fan 1996,
doi:10.2307/2684934; the default of NumPy, R and Julia): of N sorted values x_0 … x_{N−1} the quantile at p is x at
the place p(N − 1). The axis `quantile` has p = 0, .01, .05, .1, .25, .5, .75, .9, .95, .99, 1.
)")},

    Notion{"Numbers and absent values", text(R"(
Datasets are float32 (float64 in runs with `--dtype float64`) unless an entry names another type. Attention and its
statistics are computed in float32 or float64 and summed in double; root attributes `dtype_compute` and
`dtype_statistics` say in what. What a head does not have is NaN, in integers −1; the component axis has always length
2. A bound may be overstepped by rounding: by 1e-5 relative in float32.
)")},

    Notion{"Spikes of a training", text(R"(
`training.h5` counts the spikes of its loss and of its gradient norm (root attributes `loss_spikes`,
`gradient_norm_spikes`). Step t ≥ 100 is a spike where its value exceeds

    median(x_{t−100} … x_{t−1}) + 6·MAD,  MAD = median of |x_u − that median| over the same 100 steps

or is not a number: a running median over the 100 steps before, the step itself left out. The median of an even number
is the mean of the middle two. `gradient_norm_max_over_median` is the largest gradient norm over the median of all.
)")},
};

}  // namespace

std::span<const Notion> notions() { return kNotions; }

}  // namespace headroom
