//go:build !linux

package bench

// apart does nothing: processes are measured on Linux only.
func apart(int) (restore func(), err error) { return func() {}, nil }
