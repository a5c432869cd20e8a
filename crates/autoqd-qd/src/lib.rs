//! Quality-diversity optimisation: archives, evolution strategies, emitters and a scheduler, as pyribs has them.
