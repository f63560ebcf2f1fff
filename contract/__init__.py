"""What must hold, as code: ports, models, the runner, reports."""
