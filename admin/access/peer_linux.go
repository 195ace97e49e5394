package access

import "golang.org/x/sys/unix"

// peerOf returns the user at the other end of a unix socket.
func peerOf(fd int) (uid uint32, err error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}
