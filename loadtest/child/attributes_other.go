//go:build !linux

package child

import "syscall"

// attributes returns how a child begins. An interrupt of the terminal reaches it: it could outlive this process otherwise.
func attributes() *syscall.SysProcAttr { return nil }
