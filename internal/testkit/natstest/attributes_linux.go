package natstest

import "syscall"

// attributes returns how a server begins: it does not outlive the test.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
