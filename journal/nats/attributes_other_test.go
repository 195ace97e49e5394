//go:build !linux

package nats

import "syscall"

// attributes returns how a server begins.
func attributes() *syscall.SysProcAttr { return nil }
