"""Puts one wrong line at a time into a copy of the sources, rebuilds it, and says whether the oracle's tests notice.

    python tests/oracle/mutations.py WORK_FOLDER [--torch DIR] [NAME…]
    python tests/oracle/mutations.py --check

A script, not a test: each mutation costs a rebuild. The copy and its build stay in WORK_FOLDER for the next call. --check
only asks whether every line is in the sources, once; the suite runs it, so that the list stays true. Lines are compared
without regard to blanks and line breaks.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
JOBS = str(os.cpu_count() or 1)


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    file: str
    right: str
    wrong: str

    def pattern(self):
        return re.compile(r"\s+".join(map(re.escape, self.right.split())))

    def places(self, root):
        path = root / self.file
        return len(self.pattern().findall(path.read_text())) if path.is_file() else 0


MUTATIONS = [
    Mutation("v2_pairing_swapped", "core/model/diff_parts.cpp", "head.first = {2 * i, block, {block}};",
             "head.first = {2 * i + 1, block, {block}};"),
    Mutation("v2_value_of_wrong_group", "core/model/diff_parts.cpp", "const std::int64_t block = 2 * i / group;",
             "const std::int64_t block = i % kv_heads;"),
    Mutation("v1_flash_is_naive", "core/model/diff_parts.cpp", "(2 * i + 1) / repeat : pair + 1", "(2 * i + 1) / repeat : pair"),
    Mutation("v1_naive_is_flash", "core/model/diff_parts.cpp", "naive ? 2 * i / repeat : pair", "naive ? pair : pair"),
    Mutation("diffllama_pairs_adjacent", "core/model/families/diffllama.cpp", "diff_v1_head({i, i / group, values}",
             "diff_v1_head({2 * i, 2 * i / group, values}"),
    Mutation("motif_counts_layers_from_0", "core/model/families/motif.cpp", ".depth = layer - 1", ".depth = layer"),
    Mutation("motif_noise_head_first", "core/model/families/motif.cpp", "{begin + grouping.signals, 2 * group + 1, values}",
             "{begin, 2 * group + 1, values}"),
    Mutation("axolotl_second_key_of_first", "core/model/families/llama_differential.cpp", "kv_heads + key, values}, norm", "key, values}, norm"),
    Mutation("gate_rows_before_queries", "core/model/model_lines.cpp", "{query_rows, groups * gate_rows,",
             "{0, groups * gate_rows,"),
    Mutation("group_by_remainder", "core/model/decoder_parts.cpp", "const std::int64_t group = i / (heads / kv_heads);",
             "const std::int64_t group = i % kv_heads;"),
    Mutation("lambda_sign", "core/compute/attention_weights.cpp",
             "at::exp(dot(weights.lambda_q1, weights.lambda_k1)) - at::exp(dot(weights.lambda_q2, weights.lambda_k2))",
             "at::exp(dot(weights.lambda_q1, weights.lambda_k1)) + at::exp(dot(weights.lambda_q2, weights.lambda_k2))"),
    Mutation("lambda_init_from_one", "core/model/decoder_parts.cpp", "-0.3 * static_cast<double>(depth)",
             "-0.3 * static_cast<double>(depth + 1)"),
    Mutation("lambda_without_sigmoid", "core/compute/layer_heads.h", "lambda_sigmoid_ = at::sigmoid(lambda_raw_);",
             "lambda_sigmoid_ = lambda_raw_;"),
    Mutation("one_minus_lambda_init_lost", "core/compute/attention_weights.cpp", "head.enabled ? head.post_scale : 0.0",
             "head.enabled ? 1.0 : 0.0"),
    Mutation("norm_of_scaled_context", "core/compute/attention_weights.cpp",
             "context = at::where(normed != 0.0, weights.head_norm(context), context);",
             "context = at::where(normed != 0.0, weights.head_norm(context * column([](const HeadProgram& head) { return"
             " head.post_scale; }).to(context.scalar_type())), context);"),
    Mutation("context_rms_after_norm", "core/compute/layer_heads.h",
             "record.context_rms = row_squares<Real>(context.select(1, h));",
             "record.context_rms = row_squares<Real>(weights_.head_norm(context).select(1, h));"),
    Mutation("subln_epsilon", "core/model/diff_parts.h", "kSublnEpsilon = 1e-5;", "kSublnEpsilon = 1e-6;"),
    Mutation("first_keys_forgotten", "core/compute/layer_heads.h", "problem.mask.always_visible = attention_.always_visible;",
             "problem.mask.always_visible = 0;"),
    Mutation("window_one_wider", "kernels/mask.h", "window > 0 ? std::min(window, extent())",
             "window > 0 ? std::min(window + 1, extent())"),
    Mutation("hidden_key_still_counted", "core/measure/layer_record.cpp", "head_record.program.hidden_keys,", "{},"),
    Mutation("eligible_rows_strict", "core/measure/head_view.cpp", "visible[i] >= std::min(min_row, most)",
             "visible[i] > std::min(min_row, most)"),
    Mutation("normalised_by_n_not_visible", "core/measure/head_view.cpp",
             "finite && visible[r] > 0 ? std::sqrt(squares / static_cast<double>(visible[r]))",
             "finite && visible[r] > 0 ? std::sqrt(squares / static_cast<double>(length))"),
    Mutation("rotation_backwards", "core/compute/rotary.cpp", "first * cos_ - second * sin_", "first * cos_ + second * sin_"),
    Mutation("yarn_factor_lost", "core/compute/rotary.cpp", "(angles.sin() * factor)", "(angles.sin())"),
    Mutation("induction_key_itself", "core/compute/forward.cpp", "keys[i] = found->second + 1;", "keys[i] = found->second;"),
    Mutation("gate_function", "core/compute/attention_weights.cpp", "at::sigmoid(weights.gate_projection(x)",
             "at::tanh(weights.gate_projection(x)"),
    Mutation("own_key_when_nothing_is_left", "kernels/mask.h",
             "out.push_back({row + first_query, row + first_query + 1});",
             "out.push_back({all.begin, row + first_query + 1});"),
    Mutation("temperature_lost", "core/compute/layer_heads.h", "problem.temperature = program.temperature;",
             "problem.temperature = 1.0;"),
    Mutation("sink_of_head_zero", "core/compute/layer_heads.h",
             "problem.sink = weights_.sinks[static_cast<std::size_t>(h)];", "problem.sink = weights_.sinks[0];"),
    Mutation("lambda_of_net_rows", "core/compute/blocked_task.cpp", "at::mul_out(weights_[kNet], weights_[1], lambda).neg_();",
             "at::mul_out(weights_[kNet], weights_[1], at::full_like(lambda, 0.5)).neg_();"),
]


def run(command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)


def copy_sources(target):
    files = run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"]).stdout.split("\n")
    for name in filter(None, files):
        source, copy = ROOT / name, target / name
        if not source.is_file():
            continue
        data = source.read_bytes()
        if not copy.exists() or copy.read_bytes() != data:  # unchanged files keep their time: no rebuild
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)


def build(source, folder):
    return run(["cmake", "--build", folder, "--target", "headroom", "-j", JOBS], cwd=source)


def tests_fail(folder, stop_early):
    program = next((p for p in (folder / "headroom", folder / "app" / "headroom", folder / "bin" / "headroom") if p.is_file()), None)
    environment = {**os.environ, "HEADROOM": str(program), "PYTHONDONTWRITEBYTECODE": "1"}
    here = pathlib.Path(__file__).parent
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no",
               here / "test_parity.py", here / "test_goldens.py", here / "test_what_ifs.py"] + (["-x"] if stop_early else [])
    result = run(command, env=environment)
    failed = [line.split("::")[1].split(" - ")[0] for line in result.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path, nargs="?")
    parser.add_argument("--check", action="store_true", help="only whether the lines are in the sources")
    parser.add_argument("--torch", default=None, help="folder of the LibTorch that CMake is given")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    stale = [f"{m.name}: {m.file} holds the line {m.places(ROOT)} times, not once" for m in MUTATIONS if m.places(ROOT) != 1]
    if stale:
        sys.exit("\n".join(stale))
    if arguments.check:
        print(f"{len(MUTATIONS)} lines are in the sources once")
        return
    if not arguments.work:
        parser.error("a folder to work in is needed")
    source, folder = arguments.work.resolve() / "source", arguments.work.resolve() / "build"
    copy_sources(source)
    configure = ["cmake", "-S", source, "-B", folder, "-G", "Ninja"]
    if arguments.torch:
        configure.append(f"-DHEADROOM_TORCH_DIR={arguments.torch}")
    for step in (run(configure), build(source, folder)):
        if step.returncode:
            sys.exit(step.stdout[-3000:] + step.stderr[-3000:])
    failed, result = tests_fail(folder, stop_early=False)
    if result.returncode:
        sys.exit("the unchanged sources fail, so nothing can be shown:\n" + "\n".join(failed) + result.stdout[-2000:])
    survived = []
    for mutation in MUTATIONS:
        if arguments.names and mutation.name not in arguments.names:
            continue
        path = source / mutation.file
        original = path.read_text()
        try:
            path.write_text(mutation.pattern().sub(lambda _: mutation.wrong, original))
            if build(source, folder).returncode:
                print(f"no build  {mutation.name}", flush=True)
                survived.append(mutation.name)
                continue
            failed, result = tests_fail(folder, stop_early=True)
            killed = result.returncode == 1 and failed
            print(f"{'killed  ' if killed else 'SURVIVED'}  {mutation.name}" + (f"  by {failed[0]}" if killed else ""), flush=True)
            if not killed:
                survived.append(mutation.name)
        finally:
            path.write_text(original)
    sys.exit(f"not killed: {', '.join(survived)}" if survived else 0)


if __name__ == "__main__":
    main()
