#!/usr/bin/env bash
# faiss: the best of three results is not the one result.
# Equal vectors have equal scores, so which one is first is a matter of order. One expects the order of the index, for
# any k. With k = 1 the first result is id 0; with k = 3 the same search gives 2, 1, 0.
# shellcheck source=findings/environment
source "$(dirname "$0")/environment"
packages faiss-cpu==1.15.1 numpy==2.4.6
seen <<'PY'
import faiss
import numpy as np

index = faiss.IndexFlatIP(4)
index.add(np.repeat(np.eye(4, dtype=np.float32)[:1], 6, axis=0))
query = np.eye(4, dtype=np.float32)[:1]
one, three = (index.search(query, k)[1][0].tolist() for k in (1, 3))
print(f"six equal vectors: k=1 gives {one}, k=3 gives {three}")
raise SystemExit(one != [0] or three != [2, 1, 0])
PY
