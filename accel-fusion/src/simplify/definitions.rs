//! Counts the uses of definitions, of scalars or of arrays: the first walk of NOTE [Counting before inlining].

use super::used_components::Demand;

/// The uses of a definition.
#[derive(Clone, Default)]
pub struct Definition {
    /// The number of uses as a value.
    pub uses: u32,
    /// The number of uses of an array in scalar code.
    pub reads: u32,
    /// Whether the shape of an array is read.
    pub shape: bool,
    /// Whether more than the shape of an array is used, by something of which more than the shape is used.
    pub value: bool,
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

impl Definition {
    /// Whether the definition is used.
    pub fn is_used(&self) -> bool {
        self.uses + self.reads > 0
    }
}

/// All definitions, and the walk that counts their uses.
#[derive(Default)]
pub struct Uses {
    /// By their numbers.
    pub definitions: Vec<Definition>,
    /// The definitions in scope, by their numbers.
    scope: Vec<usize>,
    loops: u32,
    /// Whether only shapes of what is visited are used.
    only_shapes: bool,
}

impl Uses {
    /// Enters the scope of a variable. Returns its number.
    pub fn enter(&mut self) -> usize {
        let number = self.definitions.len();
        self.definitions.push(Definition { loops: self.loops, body: number + 1, ..Definition::default() });
        self.scope.push(number);
        number
    }

    /// Visits the body of a definition, and then the bound expression, of which it is then known how it is used.
    pub fn definition(&mut self, body: impl FnOnce(&mut Self), bound: impl FnOnce(&mut Self, &Definition)) {
        let number = self.enter();
        body(self);
        self.scope.pop();
        self.definitions[number].bound = self.definitions.len();
        let definition = self.definitions[number].clone();
        let before = std::mem::replace(&mut self.only_shapes, !definition.value);
        bound(self, &definition);
        self.only_shapes = before;
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
        let (loops, is_value) = (self.loops, !self.only_shapes);
        let definition = self.at(index);
        definition.uses += 1;
        definition.value |= is_value && *d != Demand::Shape;
        definition.in_loop |= definition.loops < loops;
        definition.demand.join(d);
    }

    /// Counts a use of an array in scalar code.
    pub fn read(&mut self, index: usize, d: &Demand) {
        let is_value = !self.only_shapes;
        let definition = self.at(index);
        definition.reads += 1;
        definition.shape |= *d == Demand::None;
        definition.value |= is_value && *d != Demand::None;
        definition.demand.join(d);
    }

    fn at(&mut self, index: usize) -> &mut Definition {
        &mut self.definitions[self.scope[self.scope.len() - 1 - index]]
    }
}
