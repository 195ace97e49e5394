package natstest

import "syscall"

// attributes returns the attributes of a server's process: it does not outlive the test.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
