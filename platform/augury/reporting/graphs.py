"""What an experiment makes, as a Mermaid flowchart: the texts and the model of every training."""

from __future__ import annotations

import html

from augury.experiments.graph import Graph, Step


def mermaid(graph: Graph) -> str:
    """Return a flowchart with a box for the texts of every training, and one for its models of all
    seeds; each says whether it is there."""
    boxes: dict[tuple[str, bool], list[Step]] = {}
    for step in graph.names:  # inputs first
        boxes.setdefault((step.address, step.seed is None), []).append(step)
    numbers = {step: number for number, box in enumerate(boxes.values()) for step in box}
    lines = ["flowchart LR"]
    for number, box in enumerate(boxes.values()):
        plan, missing, inputs = graph.plans[box[0].address], 0, set[int]()
        for step in box:
            folders = [*plan.tokens.values()] if step.seed is None else [plan.run(step.seed)]
            missing += not all(folder.complete for folder in folders)
            inputs |= {numbers[needed] for needed in graph.inputs(step)}
        title = f"model {graph.names[box[0]]}"
        if box[0].seed is None:
            made = ", ".join(part.name for part in plan.parts)
            title = f"texts of {graph.names[box[0]]}" + (f": {made}" if made else "")
        state = f"{missing} of {len(box)} to be made" if missing else "there"
        lines.append(f'  n{number}["{html.escape(title)}<br>{state}"]')
        lines += [f"  n{source} --> n{number}" for source in sorted(inputs)]
    return "\n".join(lines) + "\n"
