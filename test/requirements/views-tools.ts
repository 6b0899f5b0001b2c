/**
 * The promises of section 10 about forms, and the screens of tools, workflows, plans and the
 * doctor.
 */
export const VIEWS_TOOLS: { readonly [name: string]: string } = {
  'form-fields':
    'A JSON Schema becomes a form: texts, numbers, boxes, choices, lists, nested objects, variants, null; what cannot be drawn is a text of JSON, and so is the whole on request.',
  'form-leaves-out':
    'A field that is not filled in is left out of the value, and what can be only one thing is put in.',
  'form-problems': 'What the server has against a value stands beside the field that it is about.',
  'form-secrets':
    'A secret is typed into a field that hides it, and stands nowhere beside the form in plain.',
  'form-source':
    'Source of workflows and documents is coloured by cutting it into pieces of text, never by making markup of it.',
  'tools-list':
    'The dashboard lists tools with source, health, permissions and the last week, and those that were refused or are shadowed with the reason and a fix; search and source stand in the address.',
  'tools-rescan': 'Rescan finds a tool that came later.',
  'tool-forms':
    'A tool is shown as help, JSON Schema, MCP definition and skill: side by side, or in tabs where it is narrow.',
  'tool-try-it':
    'A form from the schema starts a run, and shows the equal command line and JSON as somebody types: pasted into a shell, the command gives the same result.',
  'tool-problems': 'What is wrong with an input stands beside its field, and nothing is started.',
  'tool-consent':
    'A destructive tool is started from the dashboard only after a question; a dry run does nothing.',
  'workflows-list':
    'The dashboard lists workflows with how each went last, and why one cannot be run.',
  'workflow-page': 'A workflow is shown as graph, plan and source.',
  'workflow-grid':
    'A grid of steps and runs shows how each step went, in colour, symbol and word; a form from the input schema runs the workflow.',
  'plan-screen': 'The dashboard shows plans with their steps and how far they are.',
  'doctor-screen': 'The dashboard shows what the doctor finds, with a fix to copy.',
  'doctor-clean': 'The dashboard removes old runs after a question.',
}
