"""No module imports itself through others, also not inside a function."""

from graphlib import TopologicalSorter

import grimp


def test_no_module_imports_itself_through_others() -> None:
    packages = ("judge_r1", "data_builders", "retrieval")
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=True)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the circle
