"""Compares the family scan with sums that NumPy computes in double precision."""
import json

import numpy as np

from program import load, settings, test

VARIANTS = ["sequential", "hillis_steele", "blelloch", "three_phase", "lookback"]
OPERATORS = ["sum", "product", "max", "min", "linear", "complex_sum", "complex_linear", "logcumsumexp"]
EPSILON = 2.0**-24


def is_complex(op):
    return op.startswith("complex")


def recurrence(a, x, initial):
    """y_t = a_t y_{t-1} + x_t along the middle axis."""
    y = np.empty(x.shape, np.result_type(a, x))
    state = initial
    for t in range(x.shape[1]):
        state = a[:, t] * state + x[:, t]
        y[:, t] = state
    return y


def expected(op, arrays, direction):
    wide = np.complex128 if is_complex(op) else np.float64
    x = arrays["x"].astype(wide)
    a = arrays.get("a", np.ones(x.shape)).astype(wide)
    initial = arrays.get("initial", np.zeros(x[:, 0].shape)).astype(wide)
    if direction == "reverse":
        x, a = x[:, ::-1], a[:, ::-1]
    if op.endswith("linear"):
        y = recurrence(a, x, initial)
    else:
        y = {"sum": np.add, "complex_sum": np.add, "product": np.multiply, "max": np.maximum, "min": np.minimum,
             "logcumsumexp": np.logaddexp}[op].accumulate(x, axis=1)
    return y[:, ::-1] if direction == "reverse" else y


def bound(op, arrays, direction, want):
    """The largest error of f32: every step rounds the sum of magnitudes up to it."""
    steps = want.shape[1] + 2
    if op in ("max", "min"):
        return np.zeros(want.shape)
    if op == "product":
        return 2 * steps * EPSILON * np.abs(want)
    if op == "logcumsumexp":
        return 4 * steps * EPSILON + 2 * EPSILON * np.abs(want)  # the sum below the logarithm, and the end
    sizes = {name: np.abs(array) for name, array in arrays.items()}
    slack = 4 if op == "complex_linear" else 2  # a complex product has more roundings
    return slack * steps * EPSILON * expected("linear" if op.endswith("linear") else "sum", sizes, direction)


def within(got, want, limit, what):
    assert got.shape == want.shape, f"{what}: shape {got.shape} instead of {want.shape}"
    off = np.abs(got - want)
    bad = np.argwhere(~(off <= limit + 1e-38))
    assert not len(bad), f"{what}: {len(bad)} values off, first at {bad[0]}: {got[tuple(bad[0])]} not {want[tuple(bad[0])]}"


def random_arrays(op, shape, seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=shape)
    if op == "product":
        x = random.choice([-1, 1], size=shape) * random.uniform(0.9, 1.1, size=shape)

    def typed(real, imaginary=None):
        if not is_complex(op):
            return real.astype(np.float32)
        return (real + 1j * (random.normal(size=real.shape) if imaginary is None else imaginary)).astype(np.complex64)

    arrays = {"x": typed(x)}
    if op.endswith("linear"):
        gates = random.uniform(-0.7, 0.7, size=(2, *shape)) if is_complex(op) else random.uniform(-0.99, 0.99, size=(2, *shape))
        arrays["a"] = typed(*gates)
        arrays["initial"] = typed(random.normal(size=(shape[0], shape[2])))
    return arrays


def run(program, arrays, *words, **values):
    np.savez(program.file("in.npz"), **arrays)
    done = program("run", "scan", "--input", "in.npz", "--output", "out.npz", "--json", "--repeat", 1, *words,
                   *settings(values)).wants(0)
    assert done.err == "", done
    return done.json(), load(program.file("out.npz"))


@test
def every_operator_and_direction_agrees_with_numpy(program):
    shapes = [(2, 257, 3), (1, 1, 1), (1, 1000, 1), (3, 64, 17)]
    for i, op in enumerate(OPERATORS):
        for j, direction in enumerate(["forward", "reverse", "both"]):
            arrays = random_arrays(op, shapes[(i + j) % 4], 100 * i + j)
            _, out = run(program, arrays, op=op, direction=direction, block_size=[128, "auto", 256][j])
            outputs = {"y": "reverse" if direction == "reverse" else "forward"}
            if direction == "both":
                outputs["y_reverse"] = "reverse"
            for name, way in outputs.items():
                want = expected(op, arrays, way)
                limit = bound(op, arrays, way, want)
                for variant in VARIANTS:
                    got = out[f"{variant}/{name}"]
                    assert got.dtype == (np.complex64 if is_complex(op) else np.float32)
                    within(got, want, limit, f"{op} {direction} {variant}/{name}")
                reference = out[f"reference/{name}"]
                assert reference.dtype == want.dtype
                within(reference, want, 1e-12 * (1 + np.abs(want)), f"{op} {direction} reference/{name}")


def derivatives(op, x):
    """d y_t / d x_i [B, L (t), L (i), D] by the definition, without any recurrence."""
    batch, length, channels = x.shape
    d = np.zeros((batch, length, length, channels))
    for t in range(length):
        head = x[:, : t + 1]
        if op == "product":
            for i in range(t + 1):
                d[:, t, i] = np.prod(np.delete(head, i, axis=1), axis=1)
        elif op == "logcumsumexp":
            weights = np.exp(head - head.max(axis=1, keepdims=True))
            d[:, t, : t + 1] = weights / weights.sum(axis=1, keepdims=True)
        elif op in ("max", "min"):
            first = (head.argmax if op == "max" else head.argmin)(axis=1)
            np.put_along_axis(d[:, t], first[:, None], 1, axis=1)
        else:
            d[:, t, : t + 1] = 1
    return d


def gradients(op, arrays, dy):
    """The gradients of a forward scan."""
    wide = np.complex128 if is_complex(op) else np.float64
    dy = dy.astype(wide)
    if not op.endswith("linear"):
        return {"dx": np.einsum("btd,btid->bid", dy, derivatives(op, np.real(arrays["x"]).astype(np.float64)))}
    a, initial = arrays["a"].astype(wide), arrays["initial"].astype(wide)
    following = np.conj(np.concatenate([a[:, 1:], np.zeros(a[:, :1].shape)], axis=1))
    g = recurrence(following[:, ::-1], dy[:, ::-1], np.zeros(dy[:, 0].shape))[:, ::-1]
    y = expected(op, arrays, "forward")
    before = np.concatenate([initial[:, None], y[:, :-1]], axis=1)
    return {"dx": g, "da": g * np.conj(before), "dinitial": np.conj(a[:, 0]) * g[:, 0]}


def turned(arrays):
    return {name: array[:, ::-1] if array.ndim == 3 else array for name, array in arrays.items()}


@test
def gradients_agree_with_numpy(program):
    for seed, (op, direction) in enumerate([(o, d) for o in OPERATORS for d in ("forward", "reverse", "both")]):
        arrays = random_arrays(op, (2, 70, 5), seed)
        for k, name in enumerate(["dy", "dy_reverse"][: 1 + (direction == "both")]):
            arrays[name] = random_arrays(op, (2, 70, 5), 50 + seed + 100 * k)["x"]
        _, out = run(program, arrays, op=op, direction=direction)
        wanted = {}
        if direction != "reverse":
            wanted = gradients(op, arrays, arrays["dy"])
        if direction != "forward":
            dy = arrays["dy_reverse" if direction == "both" else "dy"]
            for name, gradient in turned(gradients(op, turned(arrays), dy[:, ::-1])).items():
                wanted[name] = wanted.get(name, 0) + gradient
        assert set(wanted) == {n.split("/")[1] for n in out if n.startswith("reference/d")}, op
        for name, want in wanted.items():
            for variant in VARIANTS:
                within(out[f"{variant}/{name}"], want, 2e-5 * (np.abs(want).max() + 1), f"{op} {direction} {variant}/{name}")
            within(out[f"reference/{name}"], want, 1e-11 * (1 + np.abs(want)), f"{op} {direction} reference/{name}")
        assert f"{VARIANTS[0]}/y" in out


@test
def a_gradient_is_drawn_where_backward_is_asked_for(program):
    program("run", "scan", "--output", "out.npz", "--set", "backward=true", "--set", "length=50", "--repeat", 1).wants(0)
    out = load(program.file("out.npz"))
    assert "dy" in out and "reference/dx" in out


@test
def narrow_types_round_inputs_before_the_reference(program):
    arrays = random_arrays("sum", (1, 100, 4), 7)
    for dtype, mask in (("bf16", 0xFFFF), ("f16", 0x1FFF)):
        _, out = run(program, arrays, dtype=dtype)
        assert not (out["x"].view(np.uint32) & mask).any(), dtype
        within(out["reference/y"], np.cumsum(out["x"].astype(np.float64), axis=1), 1e-12 * 100, dtype)
        unit = 2.0**-8 if dtype == "bf16" else 2.0**-11
        want = out["reference/y"]
        for variant in VARIANTS:
            within(out[f"{variant}/y"], want, unit * np.abs(want) + 1e-3, f"{dtype} {variant}")
    _, out = run(program, arrays, dtype="f16")
    assert np.array_equal(out["x"], arrays["x"].astype(np.float16).astype(np.float32))


@test
def compensated_sums_survive_cancellation(program):
    x = np.tile(np.array([1e4, 1e-4, -1e4, 1e-4], np.float32), 4096)[None, :, None]
    _, out = run(program, {"x": x}, compensated=True)
    want = np.cumsum(x.astype(np.float64), axis=1)
    for variant in VARIANTS:
        within(out[f"{variant}/y"], want, 0.002, variant)


@test
def values_that_are_not_finite_stay_where_they_belong_and_are_counted(program):
    x = np.ones((1, 200, 2), np.float32)
    x[0, 150, 1] = np.nan
    document, out = run(program, {"x": x})
    for variant in document["variants"]:
        y = out[variant["name"] + "/y"]
        assert np.isfinite(y[..., 0]).all() and np.isfinite(y[0, :150, 1]).all(), variant["name"]
        assert np.isnan(y[0, 150:, 1]).all(), variant["name"]
        assert variant["outputs"]["y"]["nonfinite"] == {"count": 50, "first": 301}, variant["outputs"]


@test
def the_document_says_the_errors_that_the_file_shows(program):
    arrays = random_arrays("sum", (2, 777, 3), 5)
    document, out = run(program, arrays)
    assert document["family"] == "scan" and document["backend"] == "cpu" and document["seed"] == 1
    assert document["parameters"]["length"] == 777 and document["parameters"]["batch"] == 2
    assert [v["name"] for v in document["variants"]] == VARIANTS
    for variant in document["variants"]:
        off = np.abs(out[variant["name"] + "/y"] - out["reference/y"])
        errors = variant["outputs"]["y"]
        assert np.isclose(errors["max_abs"], off.max(), rtol=1e-6), variant["name"]
        norm = np.linalg.norm(off) / np.linalg.norm(out["reference/y"])
        assert np.isclose(errors["rel_l2"], norm, rtol=1e-6), variant["name"]
        assert np.allclose(variant["error_by_position"], off.max(axis=(0, 2)), rtol=1e-5), variant["name"]
        assert variant["time_us"]["q1"] <= variant["time_us"]["median"] <= variant["time_us"]["q3"]
        assert len(variant["time_us"]["samples"]) == 1
        assert variant["work"]["bytes"] == 2 * 4 * off.size
        assert variant["memory_bytes"] > 0 and variant["refused"] is None
        assert variant["tracks"] == [] and variant["compiled"] == []
        end = 0
        for launch in variant["launches"]:
            assert launch["start_us"] >= end - 1e-3 and launch["duration_us"] >= 0, launch["name"]
            end = launch["start_us"] + launch["duration_us"]
            assert launch["registers"] is None and launch["occupancy"]["achieved"] is None
            assert launch["meaning"] and launch["grid"][0] >= 1 and launch["writes"]
    launches = {variant["name"]: variant["launches"] for variant in document["variants"]}
    assert len(launches["sequential"]) == len(launches["lookback"]) == 1 < len(launches["three_phase"])


@test
def an_output_file_can_be_an_input(program):
    program("run", "scan", "--output", "one.npz", "--set", "op=linear", "--set", "length=300", "--repeat", 1).wants(0)
    program("run", "scan", "--input", "one.npz", "--output", "two.npz", "--set", "op=linear", "--repeat", 1).wants(0)
    one, two = load(program.file("one.npz")), load(program.file("two.npz"))
    assert sorted(one) == sorted(two)
    for name in one:
        assert np.array_equal(one[name], two[name]), name


@test
def bits_depend_neither_on_threads_nor_on_the_run(program):
    outs = []
    for threads in (1, 2, 3, 2):
        program("run", "scan", "--output", "out.npz", "--threads", threads, "--repeat", 2, "--set", "length=3001",
                "--set", "op=linear", "--seed", 9).wants(0)
        outs.append(load(program.file("out.npz")))
    for out in outs[1:]:
        for name in outs[0]:
            assert np.array_equal(outs[0][name], out[name]), name
    program("run", "scan", "--output", "out.npz", "--repeat", 1, "--set", "length=3001", "--set", "op=linear",
            "--seed", 10).wants(0)
    assert not np.array_equal(load(program.file("out.npz"))["x"], outs[0]["x"])


@test
def named_variants_run_alone(program):
    done = program("run", "scan", "--json", "--variant", "lookback", "--variant", "sequential", "--repeat", 1).wants(0)
    assert [v["name"] for v in done.json()["variants"]] == ["sequential", "lookback"]
    program("run", "scan", "--variant", "nothing").wants(2, "nothing", "lookback")


@test
def a_trace_shows_the_launches_of_every_variant_and_their_workers(program):
    done = program("run", "scan", "--json", "--trace", "a.json", "--threads", 2, "--repeat", 3).wants(0)
    trace = json.loads(open(program.file("a.json"), encoding="utf-8").read())
    assert trace["otherData"]["device"] == done.json()["device"]
    assert trace["otherData"]["command"].startswith("sawtooth run scan")
    names = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert list(names.values()) == VARIANTS
    for pid, variant in zip(names, done.json()["variants"]):
        spans = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["pid"] == pid]
        launches = [e for e in spans if threads[pid, e["tid"]] == "launches"]
        assert len(launches) == len(variant["launches"]), variant["name"]
        for event, launch in zip(launches, variant["launches"]):
            assert event["name"] == launch["name"] and event["args"]["grid"] == launch["grid"]
            assert abs(event["ts"] - launch["start_us"]) < 1e-3
            assert abs(event["dur"] - launch["duration_us"]) < 2e-3
        workers = [e for e in spans if threads[pid, e["tid"]].startswith("worker ")]
        assert len(workers) == sum(len(launch["busy"]) for launch in variant["launches"])
    program("run", "scan", "--trace", "b.json", "--profile", "none").wants(2, "--trace", "--profile timeline")
    assert program.names() == ["a.json"]
