//go:build !linux

package bench

// separate does nothing, because processes are measured on Linux only.
func separate(int) (restore func(), err error) { return func() {}, nil }
