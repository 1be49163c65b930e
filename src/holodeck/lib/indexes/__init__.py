"""What every index has, whatever its engine: a commit record, generations, leases, one builder.

A build writes a new generation aside and commits by replacing the record; a reader holds a lease on
the generation that it opened.
"""
