package hooks

import (
	"pmg/config"
	"pmg/plugin"
	"pmg/plugin/service"
)

// Open makes the plugin of a configuration.
func Open(p *config.Plugin) plugin.Plugin {
	if rules := p.Compiled(); rules != nil {
		return rules
	}
	return service.New(service.Options{URL: p.URL, Key: p.Key, Batch: p.Batch})
}
