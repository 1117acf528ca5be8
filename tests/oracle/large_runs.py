"""Run files of many layers and heads, made of a small one: its data repeated along these axes."""
import h5py
import numpy as np


def axes_of(dataset):
    if dataset.is_scale:
        return [dataset.name.split("/")[-1]]
    return [dim[0].name.split("/")[-1] if len(dim) else "" for dim in dataset.dims]


def enlarge(source, target, layers, heads):
    want = {"layer": layers, "head": heads}
    with h5py.File(source) as old, h5py.File(target, "w") as new:
        new.attrs.update(old.attrs)
        new.attrs["model_layers"] = np.int64(layers)
        names = []
        old.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        names = [name for name in names if not name.startswith(("exact/", "maps/"))]
        for name in names:
            values = old[name][()]
            for axis, of in enumerate(axes_of(old[name]) if old[name].shape else []):
                if of not in want:
                    continue
                values = np.take(values, np.arange(want[of]) % old[name].shape[axis], axis=axis)
                if old[name].is_scale:
                    values = np.arange(want[of], dtype=old[name].dtype)
            new.create_dataset(name, data=values, dtype=old[name].dtype)
            for key, value in old[name].attrs.items():
                if key not in ("REFERENCE_LIST", "DIMENSION_LIST", "CLASS", "NAME"):
                    new[name].attrs[key] = value
        for name in names:
            if old[name].is_scale:
                new[name].make_scale(name.split("/")[-1])
        for name in names:
            if old[name].is_scale or not old[name].shape:
                continue
            for axis, dim in enumerate(old[name].dims):
                if len(dim):
                    new[name].dims[axis].attach_scale(new[dim[0].name])
        for group in {name.rpartition("/")[0] for name in names} - {""}:
            new[group].attrs.update(old[group].attrs)
    return target
