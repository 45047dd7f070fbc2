#!/usr/bin/env python3
"""The public interface of the library as text, one item per line, from rustdoc's JSON.

    tests/public_api.py            prints it
    tests/public_api.py --check    compares it with docs/public-api.txt; exit status 1 if they differ
    tests/public_api.py --update   writes docs/public-api.txt

Items that are hidden from the documentation are not part of the interface. Implementations of traits from other crates are
left out, except for those of std that callers rely on (LISTED_TRAITS).
"""
import difflib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = ROOT / "docs" / "public-api.txt"
FEATURES = "serde,scan,store,pins,export,diff"
LISTED_TRAITS = {"Clone", "Copy", "Default", "Display", "Error", "From", "FromStr", "Iterator", "PartialEq", "PartialOrd", "Hash", "Serialize"}


def rustdoc():
    """The JSON of the library. The format is unstable, so stable rustdoc needs RUSTC_BOOTSTRAP."""
    target = ROOT / "target" / "public-api"
    command = ["cargo", "rustdoc", "--quiet", "--locked", "--lib", "--no-default-features", "--features", FEATURES]
    command += ["--", "-Zunstable-options", "--output-format=json", "--cap-lints=allow"]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "RUSTC_BOOTSTRAP": "1", "CARGO_TARGET_DIR": str(target)})
    return json.loads((target / "doc" / "jlfix.json").read_text())


class Interface:
    def __init__(self, crate):
        self.index = crate["index"]
        self.paths = crate["paths"]
        self.root = crate["root"]
        self.lines = set()

    def item(self, id):
        return self.index.get(str(id))

    # Types, as they are written in Rust.

    def type(self, value):
        if value is None:
            return "_"
        (kind, inner), = value.items() if isinstance(value, dict) else [(value, None)]
        if kind == "resolved_path":
            return self.path(inner)
        if kind in ("generic", "primitive"):
            return inner
        if kind == "borrowed_ref":
            lifetime = inner["lifetime"] + " " if inner["lifetime"] else ""
            return "&" + lifetime + ("mut " if inner["is_mutable"] else "") + self.type(inner["type"])
        if kind == "raw_pointer":
            return ("*mut " if inner["is_mutable"] else "*const ") + self.type(inner["type"])
        if kind == "slice":
            return f"[{self.type(inner)}]"
        if kind == "array":
            return f"[{self.type(inner['type'])}; {inner['len']}]"
        if kind == "tuple":
            return "(" + ", ".join(map(self.type, inner)) + ")"
        if kind == "impl_trait":
            return "impl " + self.bounds(inner)
        if kind == "dyn_trait":
            bounds = [self.path(bound["trait"]) for bound in inner["traits"]]
            return "dyn " + " + ".join(bounds + ([inner["lifetime"]] if inner["lifetime"] else []))
        if kind == "qualified_path":
            trait = inner["trait"]
            owner = self.type(inner["self_type"])
            prefix = f"<{owner} as {self.path(trait)}>" if trait and trait["path"] else owner
            return f"{prefix}::{inner['name']}"
        if kind == "function_pointer":
            return self.signature(inner["sig"], "fn")
        return kind

    def path(self, path):
        name = path.get("path") or path.get("name") or ""
        # By its last part: how a path is spelled in the source is not the interface.
        return name.split("::")[-1] + self.arguments(path.get("args"))

    def arguments(self, args):
        if not args:
            return ""
        if "parenthesized" in args:
            inputs = args["parenthesized"]["inputs"]
            output = args["parenthesized"]["output"]
            return "(" + ", ".join(map(self.type, inputs)) + ")" + (f" -> {self.type(output)}" if output else "")
        if "angle_bracketed" not in args:
            return ""
        parts = [self.argument(arg) for arg in args["angle_bracketed"]["args"]]
        for constraint in args["angle_bracketed"]["constraints"]:
            binding = constraint["binding"]
            if "equality" in binding:
                parts.append(f"{constraint['name']} = {self.term(binding['equality'])}")
            else:
                parts.append(f"{constraint['name']}: {self.bounds(binding['constraint'])}")
        return "<" + ", ".join(parts) + ">" if parts else ""

    def argument(self, arg):
        (kind, inner), = arg.items() if isinstance(arg, dict) else [(arg, None)]
        if kind == "lifetime":
            return inner
        if kind == "type":
            return self.type(inner)
        return inner["expr"] if kind == "const" else "_"

    def term(self, term):
        (kind, inner), = term.items()
        return self.type(inner) if kind == "type" else inner["expr"]

    def bounds(self, bounds):
        out = []
        for bound in bounds:
            if "trait_bound" in bound:
                modifier = "?" if bound["trait_bound"]["modifier"] == "maybe" else ""
                out.append(modifier + self.path(bound["trait_bound"]["trait"]))
            elif "outlives" in bound:
                out.append(bound["outlives"])
        return " + ".join(out)

    def generics(self, generics):
        parts = []
        for param in generics["params"]:
            (kind, inner), = param["kind"].items()
            if kind == "lifetime":
                parts.append(param["name"])
            elif kind == "type" and not inner["is_synthetic"]:
                bounds = self.bounds(inner["bounds"])
                parts.append(param["name"] + (f": {bounds}" if bounds else ""))
            elif kind == "const":
                parts.append(f"const {param['name']}: {self.type(inner['type'])}")
        return "<" + ", ".join(parts) + ">" if parts else ""

    def where(self, generics):
        out = []
        for predicate in generics["where_predicates"]:
            if "bound_predicate" in predicate:
                bound = predicate["bound_predicate"]
                out.append(f"{self.type(bound['type'])}: {self.bounds(bound['bounds'])}")
        return " where " + ", ".join(out) if out else ""

    def signature(self, sig, name):
        inputs = ", ".join(f"{argument}: {self.type(type)}" for argument, type in sig["inputs"])
        inputs = inputs.replace("self: &mut Self", "&mut self").replace("self: &Self", "&self").replace("self: Self", "self")
        return f"{name}({inputs})" + (f" -> {self.type(sig['output'])}" if sig["output"] else "")

    # Items.

    def add(self, item, path, line):
        marks = [f"#[{mark}] " for mark in ("non_exhaustive", "must_use") if self.has(item, mark)]
        self.lines.add(f"{path}: {''.join(marks)}{line}")

    def has(self, item, mark):
        return any(mark in (attr if isinstance(attr, str) else json.dumps(attr)) for attr in item["attrs"])

    def walk(self, id, path):
        item = self.item(id)
        if item is None:
            return
        (kind, inner), = item["inner"].items()
        name = f"{path}::{item['name']}" if path and item["name"] else (item["name"] or path)
        if kind == "module":
            if path:
                self.add(item, name, "mod")
            for child in inner["items"]:
                self.walk(child, name)
        elif kind == "use":
            self.reexport(inner, path)
        elif kind in ("struct", "enum", "union"):
            self.data(item, kind, inner, name)
        elif kind == "function":
            self.function(item, inner, name)
        elif kind == "constant":
            self.add(item, name, f"const {self.type(inner['type'])}")
        elif kind == "static":
            self.add(item, name, f"static {self.type(inner['type'])}")
        elif kind == "type_alias":
            self.add(item, name, f"type{self.generics(inner['generics'])} = {self.type(inner['type'])}")
        elif kind == "trait":
            bounds = self.bounds(inner["bounds"])
            self.add(item, name, f"trait{self.generics(inner['generics'])}" + (f": {bounds}" if bounds else ""))
            for child in inner["items"]:
                self.walk(child, name)
        elif kind == "assoc_type":
            self.add(item, name, "type")
        elif kind == "assoc_const":
            self.add(item, name, f"const {self.type(inner['type'])}")

    def reexport(self, use, path):
        target = self.item(use["id"]) if use["id"] is not None else None
        if target is None:
            self.lines.add(f"{path}::{use['name']}: use {use['source']}")
            return
        # An item of a private module is documented where it is re-exported; one of a public module is named only.
        home = self.paths.get(str(use["id"]))
        if home and self.is_public("::".join(home["path"])) and f"{path}::{use['name']}" != "::".join(home["path"]):
            self.lines.add(f"{path}::{use['name']}: use {'::'.join(home['path'])}")
            return
        before = target["name"]
        target["name"] = use["name"]
        self.walk(use["id"], path)
        target["name"] = before

    def is_public(self, path):
        """True if every module on the way to the path is listed under its own name."""
        module, parts = self.item(self.root), path.split("::")[1:-1]
        for part in parts:
            children = [self.item(child) for child in module["inner"]["module"]["items"]]
            found = [child for child in children if child and child["name"] == part and "module" in child["inner"]]
            if not found:
                return False
            module = found[0]
        return any((self.item(child) or {}).get("name") == path.split("::")[-1] for child in module["inner"]["module"]["items"])

    def data(self, item, kind, inner, name):
        self.add(item, name, kind + self.generics(inner["generics"]) + self.where(inner["generics"]))
        if kind == "enum":
            for id in inner["variants"]:
                variant = self.item(id)
                if variant is not None:
                    self.variant(variant, f"{name}::{variant['name']}")
        elif kind == "struct" and isinstance(inner["kind"], dict):
            self.fields(inner["kind"], name)
        for id in inner["impls"]:
            self.implementation(self.item(id), name)

    def variant(self, variant, name):
        shape = variant["inner"]["variant"]["kind"]
        self.add(variant, name, "variant")
        if isinstance(shape, dict):
            self.fields(shape, name)

    def fields(self, shape, name):
        (kind, inner), = shape.items()
        for position, id in enumerate(inner["fields"] if kind in ("plain", "struct") else inner):
            field = self.item(id) if id is not None else None
            if field is not None:
                self.add(field, f"{name}::{field['name'] or position}", self.type(field["inner"]["struct_field"]))

    def implementation(self, item, name):
        if item is None:
            return
        inner = item["inner"]["impl"]
        if inner["trait"] is None:
            for child in inner["items"]:
                self.walk(child, name)
        elif not inner["is_synthetic"] and not inner["blanket_impl"] and not inner["is_negative"]:
            trait = self.path(inner["trait"])
            if trait.split("<")[0] in LISTED_TRAITS:
                self.lines.add(f"{name}: impl {trait}")

    def function(self, item, inner, name):
        header = "".join(f"{word} " for word in ("const", "unsafe", "async") if inner["header"][f"is_{word}"])
        line = self.signature(inner["sig"], "fn" + self.generics(inner["generics"])) + self.where(inner["generics"])
        self.add(item, name, header + line)


def text():
    interface = Interface(rustdoc())
    interface.walk(interface.root, "")
    return "".join(line + "\n" for line in sorted(interface.lines))


def main(arguments):
    now = text()
    if arguments == ["--update"]:
        TEXT.write_text(now, newline="\n")
    elif arguments == ["--check"]:
        recorded = TEXT.read_text() if TEXT.exists() else ""
        if recorded != now:
            sys.stdout.writelines(difflib.unified_diff(recorded.splitlines(True), now.splitlines(True), str(TEXT), "now", n=0))
            sys.exit("the public interface has changed: tests/public_api.py --update records it")
    else:
        sys.stdout.write(now)


main(sys.argv[1:])
