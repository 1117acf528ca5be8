"""The what-ifs (core/io/RUN_FILE.md#what-ifs) as data: `[L<layer>[.H<head>]:]NAME=VALUE`, later ones win."""
import re


class Overrides:
    def __init__(self, what_ifs):
        self.entries = []
        for text in what_ifs:
            match = re.fullmatch(r"(?:L(\d+)(?:\.H(\d+))?:)?([a-z-]+)=(.+)", text)
            layer, head, name, value = match.groups()
            if name == "hide-key":
                value = [int(key) for key in value.split(",")]
            if name == "window":
                value = [int(number) for number in (value + "+0").split("+")[:2]]
            self.entries.append((None if layer is None else int(layer), None if head is None else int(head), name, value))

    def at(self, layer, head):
        return {name: value for on_layer, on_head, name, value in self.entries
                if on_layer in (None, layer) and on_head in (None, head)}
