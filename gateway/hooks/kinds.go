package hooks

import (
	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/plugin"
	"pmg/plugin/enum"
	"pmg/plugin/program"
	"pmg/plugin/service"
)

// Open returns the Kinds of the real plugins. Programs write to the log.
func Open(log zerolog.Logger) Kinds {
	return func(p *config.Plugin) plugin.Plugin {
		switch {
		case p.Compiled() != nil:
			return p.Compiled()
		case len(p.ENUM) > 0:
			return enum.New(enum.Options{Servers: p.Servers(), Domain: p.Domain})
		case len(p.Command) > 0:
			name := p.Name
			return program.New(program.Options{
				Command: p.Command, Dir: p.Dir, User: p.User, Workers: p.Options().Workers,
				Log: func(line string) { log.Warn().Str("plugin", name).Str("line", line).Msg("a plugin says") },
			})
		}
		return service.New(service.Options{URL: p.URL, Key: p.Key, Batch: p.Batch})
	}
}
