"""Rule-based flaws: one module of operators per principle, and the engine that applies them."""
