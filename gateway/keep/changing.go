package keep

// A ChangeLock is a lock that is held while a disk or a lane is waited for. It is a channel,
// because testing/synctest does not treat a goroutine that waits for a mutex as idle.
type ChangeLock chan struct{}

// Lock locks the lock.
func (t ChangeLock) Lock() { t <- struct{}{} }

// Unlock unlocks the lock.
func (t ChangeLock) Unlock() { <-t }
