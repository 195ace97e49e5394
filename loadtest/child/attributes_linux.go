package child

import "syscall"

// attributes returns how a child begins: an interrupt of the terminal does not reach it, and it does not outlive this process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
