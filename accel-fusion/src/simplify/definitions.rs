//! Counts the uses of definitions, of scalars or of arrays: the first walk of NOTE [Counting before inlining].

use super::used_components::Demand;

/// The uses of a definition.
#[derive(Clone, Default)]
pub struct Definition {
    /// The number of uses as a value.
    pub uses: u32,
    /// The number of uses of an array in scalar code.
    pub reads: u32,
    /// The number of loops around the definition.
    loops: u32,
    /// Whether a use as a value is in a loop that does not contain the definition.
    pub in_loop: bool,
    /// The components that are used.
    pub demand: Demand,
    /// The number of the first definition inside the body.
    pub body: usize,
    /// The number of the first definition inside the bound expression.
    pub bound: usize,
    /// The number of the first definition after the bound expression.
    pub end: usize,
}

/// All definitions, and the walk that counts their uses.
#[derive(Default)]
pub struct Uses {
    /// By their numbers.
    pub definitions: Vec<Definition>,
    /// The definitions in scope, by their numbers.
    scope: Vec<usize>,
    loops: u32,
}

impl Uses {
    /// Enters the scope of a variable. Returns its number.
    pub fn enter(&mut self) -> usize {
        let number = self.definitions.len();
        self.definitions.push(Definition { loops: self.loops, body: number + 1, ..Definition::default() });
        self.scope.push(number);
        number
    }

    /// Visits the body of a definition, and then the bound expression with the components that are used, if there are
    /// uses.
    pub fn definition(&mut self, body: impl FnOnce(&mut Self), bound: impl FnOnce(&mut Self, &Demand)) {
        let number = self.enter();
        body(self);
        self.scope.pop();
        self.definitions[number].bound = self.definitions.len();
        let Definition { uses, reads, demand, .. } = self.definitions[number].clone();
        if uses + reads > 0 {
            bound(self, &demand);
        }
        self.definitions[number].end = self.definitions.len();
    }

    /// Visits the inside of a loop, where the state is in scope. Returns the components of the state that are used.
    pub fn inside_loop(&mut self, visit: impl FnOnce(&mut Self)) -> Demand {
        self.loops += 1;
        let number = self.enter();
        visit(self);
        self.scope.pop();
        self.loops -= 1;
        self.definitions[number].demand.clone()
    }

    /// Counts a use as a value. The variable is given by its De Bruijn index.
    pub fn used(&mut self, index: usize, d: &Demand) {
        let loops = self.loops;
        let definition = self.at(index);
        definition.uses += 1;
        definition.in_loop |= definition.loops < loops;
        definition.demand.join(d);
    }

    /// Counts a use of an array in scalar code.
    pub fn read(&mut self, index: usize, d: &Demand) {
        let definition = self.at(index);
        definition.reads += 1;
        definition.demand.join(d);
    }

    fn at(&mut self, index: usize) -> &mut Definition {
        &mut self.definitions[self.scope[self.scope.len() - 1 - index]]
    }
}
