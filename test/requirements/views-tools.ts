/** The promises of section 10 about forms, and the screens of tools, workflows, plans and the doctor. */
export const VIEWS_TOOLS: { readonly [name: string]: string } = {
  'form-fields': 'A JSON Schema becomes a form: texts, numbers, boxes, choices, lists, nested objects, variants, null; what cannot be drawn is a text of JSON, and so is the whole on request.',
  'form-leaves-out': 'A field that is not filled in is left out of the value, and what can be only one thing is put in.',
  'form-problems': 'What the server has against a value stands beside the field that it is about.',
  'form-source': 'Source of workflows and documents is coloured by cutting it into pieces of text, never by making markup of it.',
}
