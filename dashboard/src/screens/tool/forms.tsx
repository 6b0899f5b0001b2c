import type { ToolDetail } from '../../../../src/views/model/api.ts'
import { Code } from '../../parts/code.tsx'
import { chosenTab, TabPanel, Tabs } from '../../parts/tabs.tsx'
import { isWide } from '../../state/wide.ts'

/** The four forms of a tool: side by side where there is room, one at a time where there is not. */
export function Forms({ detail }: { readonly detail: ToolDetail }) {
  const schemas =
    detail.output_schema === undefined
      ? detail.input_schema
      : { input: detail.input_schema, output: detail.output_schema }
  const forms = [
    { id: 'help', label: 'Help', text: detail.help, language: 'text' },
    {
      id: 'schema',
      label: 'JSON Schema',
      text: JSON.stringify(schemas, null, 2),
      language: 'json',
    },
    {
      id: 'mcp',
      label: 'MCP definition',
      text: JSON.stringify(detail.mcp, null, 2),
      language: 'json',
    },
    { id: 'skill', label: 'Skill', text: detail.skill, language: 'text' },
  ] as const
  if (isWide.value)
    return (
      <div class="four">
        {forms.map(({ id, label, ...code }) => (
          <section class="card" key={id}>
            <h2>{label}</h2>
            <Code label={label} {...code} />
          </section>
        ))}
      </div>
    )
  const chosen = forms.find(({ id }) => id === chosenTab(forms, 'form'))!
  return (
    <section class="card">
      <Tabs items={forms} name="form" label="Forms of the tool" />
      <TabPanel items={forms} name="form">
        <Code label={chosen.label} text={chosen.text} language={chosen.language} />
      </TabPanel>
    </section>
  )
}
