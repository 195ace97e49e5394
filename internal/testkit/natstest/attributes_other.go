//go:build !linux

package natstest

import "syscall"

// attributes returns how a server begins.
func attributes() *syscall.SysProcAttr { return nil }
