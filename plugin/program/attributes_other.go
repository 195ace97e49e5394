//go:build !linux

package program

import "syscall"

// attributes returns the attributes of a process: its own group, which is killed as a whole.
func attributes(user *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: user}
}

// keepDescriptors does nothing: the gateway's own files are close-on-exec anyway.
func keepDescriptors() {}

// killEscaped does nothing: processes that have left the group cannot be found here.
func killEscaped(int) {}
