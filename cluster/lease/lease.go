// Package lease decides which of some nodes owns the gateway's work. At most one node holds the lease at any time, and only the
// node that holds it may send.
//
// # The cell
//
// All nodes share a Cell, which is only updated by comparing its version. It names the owner, and its version is the owner's
// heartbeat: the owner updates it every Beat. A read may be stale, and an update whose answer did not come may have happened. So
// nobody is an owner by what it reads, but by an update that has succeeded.
//
// # Why two nodes do not hold it together
//
// All times are those of the node's own monotonic clock, which steps of the wall clock do not change.
//
//   - The owner's lease ends Lease after the last acknowledged heartbeat had left. It does not matter when the answer came, nor
//     whether the process was stopped meanwhile.
//   - Another node takes over by an update of a version that it has seen for Dead. If that update succeeds, the version was the
//     last one, so the owner's last heartbeat left before the version was first seen. Dead is longer than Lease by a tenth, which
//     is more than the rates of clocks differ.
//   - An owner that hands over stops first, and then marks the cell as vacant.
//
// Each take-over counts the epoch up by one in the same update. So an epoch has one owner, and records can be judged by it: those
// of a lower epoch that stand behind those of a higher one came from a deposed owner.
//
// # What it cannot do
//
// A process may be stopped between Holds and the system call that sends; then that one call is late. A writer asks Holds directly
// before each system call, so no other call follows.
//
// The monotonic clock of a virtual machine may stand while the host has stopped the machine. Then the process may send what it
// has until the next heartbeat is refused. The epochs show which of it counts.
//
// A cell that was deleted, or set back to an earlier state, has lower versions, which look stale. Nobody owns the work until the
// processes are restarted. A process that starts after that waits for Dead, because the journal shows that there was an
// owner (SetBegun), and its epoch is above those in the journal. One that has stood by since before the first
// owner and has read nothing since then may take the cell too early.
//
// # Start reading
//
// machine.go, which decides; then holder.go, which drives it. simulation_test.go has what must hold. cluster/lease/memory is a
// cell for tests, and cluster/lease/contract tests what every cell must do.
package lease
