package program

import (
	"fmt"
	"os/user"
	"strconv"
	"syscall"
)

// credential returns the user and the groups of a process; nil: those of the gateway.
func credential(name string) (*syscall.Credential, error) {
	if name == "" {
		return nil, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, fmt.Errorf("cannot find user %s: %w", name, err)
	}
	more, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("cannot find the groups of user %s: %w", name, err)
	}
	var ids []uint32
	for _, text := range append([]string{u.Uid, u.Gid}, more...) {
		id, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("cannot find user %s: %w", name, err)
		}
		ids = append(ids, uint32(id))
	}
	switch self := syscall.Geteuid(); {
	case self == int(ids[0]):
		return nil, nil
	case self != 0:
		return nil, fmt.Errorf(
			"cannot run it as user %s: the gateway has user id %d, and only root can run it as another", name, self,
		)
	}
	return &syscall.Credential{Uid: ids[0], Gid: ids[1], Groups: ids[2:]}, nil
}
