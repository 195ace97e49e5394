package timetext

import (
	"time"
	_ "time/tzdata" // time zones, for machines without them
)

// LoadZone returns the zone with a name, and reports whether it exists. It rejects "", which is a forgotten name, and "Local",
// which differs between machines.
func LoadZone(name string) (*time.Location, bool) {
	if name == "" || name == "Local" {
		return nil, false
	}
	at, err := time.LoadLocation(name)
	return at, err == nil
}
