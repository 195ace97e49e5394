package config

import "reflect"

// LiveFrom is old with those options of c that take effect without a restart.
func (c *Connector) LiveFrom(old *Connector) Connector {
	merged := *old
	from, to := reflect.ValueOf(c).Elem(), reflect.ValueOf(&merged).Elem()
	for i := range to.NumField() {
		if to.Type().Field(i).Tag.Get("live") == "yes" {
			to.Field(i).Set(from.Field(i))
		}
	}
	return merged
}
