package daemon

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// An identity is the ids by which the kernel checks permissions.
type identity struct {
	name     string
	uid, gid int
	groups   []int // groups of the user
}

// DropPrivileges changes the user of the process, given as name or name:group. Without a group, the process
// gets the user's group. A process that is not root must be that user already.
func DropPrivileges(to string) error {
	id, err := find(to)
	if err != nil {
		return err
	}
	if syscall.Geteuid() != 0 {
		return id.isMine()
	}
	if id.uid == 0 {
		return errors.New("cannot drop privileges (user): root has them all: name another user")
	}
	if err := id.become(); err != nil {
		return fmt.Errorf("cannot become user %s (user): %w: root without its capabilities cannot", id.name, err)
	}
	return nil
}

func find(to string) (identity, error) {
	name, group, _ := strings.Cut(to, ":")
	u, err := user.Lookup(name)
	if err != nil {
		return identity{}, fmt.Errorf("cannot find user %s (user): %w: adduser --system %s makes one", name, err, name)
	}
	gid := u.Gid
	if group != "" {
		g, err := user.LookupGroup(group)
		if err != nil {
			return identity{}, fmt.Errorf("cannot find group %s (user): %w", group, err)
		}
		gid = g.Gid
	}
	more, err := u.GroupIds()
	if err != nil {
		return identity{}, fmt.Errorf("cannot find the groups of user %s (user): %w", name, err)
	}
	var numbers []int
	for _, text := range append([]string{u.Uid, gid}, more...) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return identity{}, fmt.Errorf("cannot find user %s (user): %w", name, err)
		}
		numbers = append(numbers, n)
	}
	return identity{name, numbers[0], numbers[1], numbers[2:]}, nil
}

// isMine returns an error if the process has another identity.
func (id identity) isMine() error {
	if uid := syscall.Geteuid(); uid != id.uid {
		return fmt.Errorf(
			"cannot become user %s (user): the process has user id %d, and only root can become another user: start pmg "+
				"as root or as %[1]s, or remove the option",
			id.name, uid,
		)
	}
	if gid := syscall.Getegid(); gid != id.gid {
		return fmt.Errorf(
			"cannot take group id %d (user): the process has group id %d, and only root can take another: start pmg as "+
				"root, or name no group",
			id.gid, gid,
		)
	}
	return nil
}

// become sets the identity of every thread, the user last, because only root may set the others.
func (id identity) become() error {
	if err := syscall.Setgroups(id.groups); err != nil {
		return fmt.Errorf("cannot set groups: %w", err)
	}
	if err := syscall.Setgid(id.gid); err != nil {
		return fmt.Errorf("cannot set group: %w", err)
	}
	if err := syscall.Setuid(id.uid); err != nil {
		return fmt.Errorf("cannot set user: %w", err)
	}
	if syscall.Setuid(0) == nil {
		return errors.New("the process can become root again")
	}
	return nil
}
