/** The promises of section 8 about prompts made of sections. */
export const SECTIONS: { readonly [name: string]: string } = {
  'section-text':
    'A prompt of sections is Markdown with headings by depth; the same params and state give the same bytes, and a value that is put in is never expanded again.',
  'section-params':
    'Params are checked by the schemas of prompt and sections; what is missing or wrong is told with the section.',
  'section-validation':
    'Duplicate keys and tool names, unknown placeholders, empty titles and missing summaries are refused when a prompt is made; validate() also compiles tools and params and checks examples.',
  'section-tools':
    'The tools of a rendered prompt come depth-first from enabled sections only; a disabled section disables its children.',
  'section-calls':
    'rendered.call never throws, and an unknown tool is a failed result; a handler sees the prompt that offered it.',
  'section-guards':
    'The guards of a section look at every call of its tools and of the sections below it.',
  'section-providers':
    'The tools of a rendered prompt go to every provider, and whatever a model says is answered.',
  'section-summary':
    'A section that shows its summary keeps back text, children and tools; open_sections is offered last while something can be opened, and read_section reads without opening.',
  'section-expansion':
    'open_sections raises E_VISIBILITY_EXPANSION from evaluation; unknown keys are told, and what is open already is fine.',
  'section-opened': 'What was opened is remembered in the state and in its JSON.',
  'section-deadlines':
    'An expired deadline is refused before the handler, and one that passes inside of it is an evaluation error.',
  'section-rendering': 'A model is told message and value; of a hidden value only the message.',
  'failure-table':
    "The seed's table of failures holds for calls and evaluation, and every failure restores the state.",
  'section-skills':
    'A folder with a SKILL.md is a section: its description is the summary, its files are read by read_skill_file, and nothing outside of it can be reached.',
  'section-toolsets':
    'A toolset or a registry is mounted as a section, with the tools that it has when the prompt is rendered.',
}
