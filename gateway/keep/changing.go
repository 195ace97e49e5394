package keep

// A ChangeLock is a lock that is held while a disk or a lane is waited for. It is a channel, because
// testing/synctest takes nothing that waits for a mutex for idle.
type ChangeLock chan struct{}

// Lock locks it.
func (t ChangeLock) Lock() { t <- struct{}{} }

// Unlock unlocks it.
func (t ChangeLock) Unlock() { <-t }
