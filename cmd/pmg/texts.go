package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pmg/internal/texts"
)

func newTextsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "texts [LANGUAGE]",
		Short: "Print the texts of the customers' pages, to translate or change them",
		Long: `Prints all texts of the pages for customers in a language that comes with the program, en
when none is given, as a file for the directory of portal_texts (docs/portal.md). The first
of each two texts is the key and stays as it is. Texts that are left out stay as they are, or
are English in a new language. pmg config check says what is wrong with such a file.`,
		Example: "  pmg texts > texts/fr.json\n  pmg texts de > texts/de.json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, tag := texts.Shipped(), "en"
			if len(args) > 0 {
				tag = args[0]
			}
			data, ok := all.File(tag)
			if !ok {
				var tags []string
				for _, l := range all.Languages() {
					tags = append(tags, l.Tag)
				}
				return fmt.Errorf("cannot print texts in %s: there are those in %s", tag, strings.Join(tags, ", "))
			}
			_, err := cmd.OutOrStdout().Write(data)
			return err
		},
	}
}
