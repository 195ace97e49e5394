//go:build !linux

package natstest

import "syscall"

// attributes returns the attributes of a server's process.
func attributes() *syscall.SysProcAttr { return nil }
