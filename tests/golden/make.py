"""Record golden files: ``python tests/golden/make.py`` makes what is missing; see README.md for when to do more.

--only NAME …   record these again. The model file stays: only what training gives today is written anew.
--wording       of the commands, record texts and keys of JSON again; refuses where a value has changed.
"""

import argparse
import json
import lzma
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import golden_cases as models
import golden_commands as commands
import running

import perceptive

LARGE = 100_000  # bytes; larger models are packed


def main():
    """Record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[])
    parser.add_argument("--wording", action="store_true")
    options = parser.parse_args()
    if unknown := [name for name in options.only if name not in {**models.CASES, **commands.CASES}]:
        parser.error(f"no case is called {', '.join(unknown)}")
    for folder in (models.FOLDER, commands.FOLDER):
        folder.mkdir(exist_ok=True)
    if not options.wording:
        for name in models.CASES:
            if name in options.only or not (models.FOLDER / f"{name}.json").exists():
                record_model(name)
    for name in commands.CASES:
        again = name in options.only or (options.wording and not options.only)
        if again or not (commands.FOLDER / f"{name}.json").exists():
            record_commands(name, options.wording)


def record_model(name):
    """Train, save, and write down what the model says; what was recorded of a golden file stays."""
    case, path, recorded = models.CASES[name], models.FOLDER / f"{name}.model", models.FOLDER / f"{name}.json"
    with tempfile.TemporaryDirectory() as folder:
        model = models.made(case, Path(folder))
    if not path.exists():
        perceptive.save(case.saved(model), path)
    old = json.loads(recorded.read_text("utf-8"))["loaded"] if recorded.exists() else case.ask(models.loaded(name))
    told = {"exact": case.exact, "holdout": case.holdout, "loaded": old}
    trained = case.ask(model)
    if trained != told["loaded"]:
        told["trained"] = trained
    write(recorded, told)


def record_commands(name, wording_only):
    """Play the steps, and write down what they say; the models go to those of today."""
    case, path = commands.CASES[name], commands.FOLDER / f"{name}.json"
    with tempfile.TemporaryDirectory() as folder:
        running.write_files(Path(folder), case.steps)
        steps = [running.played(step, Path(folder)) for step in case.steps]
        if wording_only and path.exists():
            recorded = json.loads(path.read_text())["steps"]
            for old, new in zip(recorded, steps, strict=True):
                if said := running.faults(old, new, case.exact):
                    raise SystemExit(f"{name}: a value has changed: {said[0]}")
        write(path, {"exact": case.exact, "holdout": case.holdout, "steps": steps})
        used = [step for step in steps if running.uses_model(step["step"])]
        if used and not (models.FOLDER / f"cli-{name}.json").exists():
            write(models.FOLDER / f"cli-{name}.json", {"exact": case.exact, "steps": used})
            for model in running.models_of(used):
                keep(Path(folder) / model, models.FOLDER / f"cli-{name}.{model}")


def keep(source, target):
    """Copy a model; a large one is mostly zeros, and is packed."""
    if source.stat().st_size < LARGE:
        shutil.copyfile(source, target)
    else:
        target.with_name(target.name + ".xz").write_bytes(lzma.compress(source.read_bytes()))


def write(path, value):
    """A line for each key, or each step: differences are to be read."""
    text = json.dumps(value, ensure_ascii=False)
    if "steps" in value:
        head = json.dumps({key: one for key, one in value.items() if key != "steps"})[1:-1]
        steps = ",\n".join(json.dumps(step, ensure_ascii=False) for step in value["steps"])
        text = f'{{{head}, "steps": [\n{steps}\n]}}'
    path.write_text(text + "\n", encoding="utf-8")
    print(path.name)


if __name__ == "__main__":
    main()
