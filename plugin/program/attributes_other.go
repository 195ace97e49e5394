//go:build !linux

package program

import "syscall"

// attributes returns how a process begins: in a group of its own, which is killed as a whole.
func attributes(user *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: user}
}

// keepDescriptors does nothing: descriptors that the gateway opens are kept from processes anyway.
func keepDescriptors() {}

// killEscaped does nothing: who has left the group is not found here.
func killEscaped(int) {}
