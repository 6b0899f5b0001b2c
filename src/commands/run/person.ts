/** Who answers at the terminal, for the record. */
export const PERSON = 'a person'
