//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package sock

// HungUp reports whether the peer of a socket will send nothing more. It reports that only after everything the peer has sent
// was read.
func HungUp(fd int) bool {
	n, err := Peek(fd, make([]byte, 1))
	return n == 0 && err == nil
}
