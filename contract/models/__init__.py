"""The rules of the contract, as tables that judge what a call did.

A model never predicts an outcome. The contract often permits several: a read may return fewer
bytes than its buffer holds, a seek past the end may fail at once or at the next read. So a model
takes the call and the outcome that was observed, and says whether the contract permits it. Models
do no I/O and import nothing but the standard library.

States
------
A stream is what Hadoop's specification makes of it: (pos, data, isOpen), the `State` of
`stream_state`. Two values of `pos` are not offsets. ANY is a position that a failed seek left
open. PAST is somewhere at or beyond the end of the file. A state holds every content that the file
has had since it was opened, because the contract lets a read return old or new bytes after a
change. Its `Origin` names the operation that last set the position.

Refusals and postconditions
---------------------------
Each operation has a table (`Operation` of `transition_table`) with two parts. A `Refusal` is a
precondition. If its `when` holds, the call must raise one of its `kinds`:

    Refusal(
        "seek.negative",                           # the clause
        lambda c: is_open(c) and c.args[0] < 0,    # when it applies
        IO,                                        # any IOException
        _FAILED_SEEK,                              # the origin afterwards
        strict=EOF,                                # with supports-strict-exceptions: EOFException
        loses_position=True,                       # the stream may be anywhere afterwards
    )

If several refusals apply, an exception that any of them permits is accepted: the contract orders
no checks. If none applies, the call has to succeed, and a `Row` is its postcondition:

    Row(
        ("getpos.value",),    # the clauses that it exercises
        is_open,              # when it applies
        _get_pos,             # judges the outcome: Accepted(state afterwards), or Failure
        describe_position,        # the permitted outcomes, as text for a report
    )

While the file has one content, the conditions of the rows exclude each other. After a change
several rows may apply, and the outcome has to satisfy one of them.

Sets of states
--------------
Where the contract leaves a choice, the model can't know which one the stream took. It follows all
of them: `Acceptor` keeps the set of states that the stream may be in, judges each outcome in every
one, and keeps those that permit it. A read of "cd" from a stream at ANY narrows the set to the
offsets where "cd" occurs. An outcome is a violation only if no state permits it. So a stream is
never blamed for a choice, and can't take two choices that exclude each other. An open with options
that permit several contents starts with a state for each. A SHOULD counts as missed only if it is
missed in every state.

Which clause is charged
-----------------------
A wrong seek is noticed by the next read. A `Failure` therefore names two clauses: `clause`, whose
rule noticed it, and `cause`, the earlier clause that explains it just as well. The cause comes from
the state's origin, by what was wrong: bytes or a position from elsewhere in the file (`moved`),
bytes that are nowhere in the file (`data`), an exception (`works`). A model can't decide between
the two. `runner/attribution.py` does: it replaces the call that failed with other calls that show
the position (witnesses). If they fail too, the earlier clause is charged.

Two rules keep this honest. A clause counts as exercised only if the outcome depended on it: a
refusal must be the only one that applies, and the call must have raised. And if several rows
reject an outcome, the first one is charged, so that the order of a table is part of its meaning.

The same form serves every group of calls. Opens with options are judged stage by stage in
`openfile_stages`, calls whose requests fail in `under_faults`, calls of several threads by a
search for a serial order in `serializability`.
"""
